package coding

// Cost is how many bytes a body may take while it is rewritten, with a window for its
// decoder: what the libraries were seen to take (TestCost), and the pipes.
func Cost(from, to Coding, window int64) int64 {
	const pipes = mostIn + 256<<10 + mostOut + 3*blockSize
	return pipes + decoderCost(from, window) + encoderCost(to)
}

func decoderCost(c Coding, window int64) int64 {
	switch c {
	case Gzip, Deflate:
		return 64 << 10
	case Brotli:
		return 128<<10 + window
	case Zstd:
		return 448<<10 + window
	}
	return 0
}

func encoderCost(c Coding) int64 {
	switch c {
	case Gzip, Deflate:
		return 1152 << 10
	case Brotli, Zstd:
		return 768 << 10
	}
	return 0
}
