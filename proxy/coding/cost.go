package coding

// Cost is how many bytes a body may take while it is rewritten, with a window for its
// decoder: what the libraries were seen to take (TestCost), and the pipes. They are the most
// that waits and a piece in one, twice the most in the other, of which the owner may have
// half, and what the worker has in its hands.
func Cost(from, to Coding, window int64) int64 {
	const pipes = mostIn + mostPiece + blockSize + 2*(mostOut+blockSize) + 3*blockSize
	return pipes + decoderCost(from, window) + encoderCost(to)
}

func decoderCost(c Coding, window int64) int64 {
	switch c {
	case Gzip, Deflate:
		return 64 << 10
	case Brotli: // a body may ask for 768 tables, of 2.7 MB; usual ones take 0.1 to 0.7
		return 2816<<10 + window
	case Zstd:
		return 704<<10 + window
	}
	return 0
}

func encoderCost(c Coding) int64 {
	switch c {
	case Gzip, Deflate:
		return 1152 << 10
	case Brotli, Zstd:
		return 1024 << 10
	}
	return 0
}
