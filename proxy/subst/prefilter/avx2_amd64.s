#include "go_asm.h"
#include "textflag.h"

// Positions are taken 32 at a time. For each place two look-ups make of a byte,
// by its lower and its upper half, the buckets that may have it there; AND
// leaves those that may have all. The last block ends where positions end and
// overlaps the one before it.
//
// SI, R8, R9, R10: text of each place   DX: position   R11: of the last block
// R12: end of positions   Y8 to Y15: tables   Y7: 0x0f in each byte   Y6: 0

// SETUP finds the k-th place, which is the last one if there are fewer.
#define SETUP \
	MOVQ  text+8(FP), SI      \
	MOVQ  from+16(FP), DX     \
	MOVQ  positions+24(FP), R12 \
	LEAQ  -32(R12), R11       \
	MOVQ  last+32(FP), CX     \
	MOVQ  tables+0(FP), AX    \
	LEAQ  (SI)(CX*1), R10     \
	LEAQ  1(SI), R8           \
	CMPQ  CX, $1              \
	CMOVQLT R10, R8           \
	LEAQ  2(SI), R9           \
	CMPQ  CX, $2              \
	CMOVQLT R10, R9           \
	VMOVDQU (AX), Y8          \
	VMOVDQU 32(AX), Y9        \
	VMOVDQU 64(AX), Y10       \
	VMOVDQU 96(AX), Y11       \
	VMOVDQU 128(AX), Y12      \
	VMOVDQU 160(AX), Y13      \
	VMOVDQU 192(AX), Y14      \
	VMOVDQU 224(AX), Y15      \
	MOVL  $0x0f, CX           \
	VMOVD CX, X7              \
	VPBROADCASTB X7, Y7       \
	VPXOR Y6, Y6, Y6

// PLACE makes of text the buckets that may have it at a place.
#define PLACE(LOAD, text, low, high, to) \
	LOAD   text, to           \
	VPSRLW $4, to, Y5         \
	VPAND  Y7, to, to         \
	VPAND  Y7, Y5, Y5         \
	VPSHUFB to, low, to       \
	VPSHUFB Y5, high, Y5      \
	VPAND  Y5, to, to

#define FOUR(LOAD, offset, to) \
	PLACE(LOAD, offset(SI)(DX*1), Y8, Y9, to)    \
	PLACE(LOAD, offset(R8)(DX*1), Y10, Y11, Y4)  \
	VPAND Y4, to, to                             \
	PLACE(LOAD, offset(R9)(DX*1), Y12, Y13, Y4)  \
	VPAND Y4, to, to                             \
	PLACE(LOAD, offset(R10)(DX*1), Y14, Y15, Y4) \
	VPAND Y4, to, to

// SLIM makes of 32 positions the buckets that may begin there.
#define SLIM(offset, to) \
	FOUR(VMOVDQU, offset, to)

// FAT does 16 at once, with the first eight buckets in the lower part of a
// register and the others in the upper one.
#define FAT(offset, to) \
	FOUR(VBROADCASTI128, offset, to)    \
	FOUR(VBROADCASTI128, offset+16, Y3) \
	VPERM2I128 $0x20, Y3, to, Y2        \
	VPERM2I128 $0x31, Y3, to, to        \
	VPOR Y2, to, to

// MASK makes of Y0 a bit for each position with a bucket.
#define MASK \
	VPCMPEQB  Y6, Y0, Y0 \
	VPMOVMSKB Y0, AX     \
	NOTL      AX

// SCAN takes one block, then two as long as nothing begins there. In the last
// block it forgets what lies before DX.
#define SCAN(BLOCK) \
single:                 \
	CMPQ  DX, R11       \
	JGT   rest          \
	BLOCK(0, Y0)        \
	MASK                \
	TESTL AX, AX        \
	JNZ   done          \
	ADDQ  $32, DX       \
pairs:                  \
	LEAQ  32(DX), CX    \
	CMPQ  CX, R11       \
	JGT   single        \
	BLOCK(0, Y0)        \
	BLOCK(32, Y1)       \
	VPOR  Y1, Y0, Y0    \
	VPTEST Y0, Y0       \
	JNZ   single        \
	ADDQ  $64, DX       \
	JMP   pairs         \
rest:                   \
	XORL  AX, AX        \
	CMPQ  DX, R12       \
	JGE   done          \
	MOVQ  DX, R13       \
	SUBQ  R11, R13      \
	MOVQ  R11, DX       \
	BLOCK(0, Y0)        \
	MASK                \
	MOVQ  R13, CX       \
	SHRL  CX, AX        \
	SHLL  CX, AX        \
done:                   \
	MOVQ  DX, at+40(FP) \
	MOVL  AX, mask+48(FP) \
	VZEROUPPER          \
	RET

// func avx2Slim(tables *halves, text *byte, from, positions, last int) (at int, mask uint32)
TEXT ·avx2Slim(SB), NOSPLIT, $0-52
	SETUP
	SCAN(SLIM)

// func avx2Fat(tables *halves, text *byte, from, positions, last int) (at int, mask uint32)
TEXT ·avx2Fat(SB), NOSPLIT, $0-52
	SETUP
	SCAN(FAT)

// Two places of one window are compared, which is all that is looked at.
//
// R8, R9: text of each   Y8, Y9: the bytes   Y10, Y11: bits that do not matter
#define TWO(offset, to) \
	VPOR offset(R8)(DX*1), Y10, to  \
	VPCMPEQB to, Y8, to             \
	VPOR offset(R9)(DX*1), Y11, Y5  \
	VPCMPEQB Y5, Y9, Y5             \
	VPAND Y5, to, to

// func avx2Pair(p *pair, text *byte, from, positions, last int) (at int, mask uint32)
TEXT ·avx2Pair(SB), NOSPLIT, $0-52
	MOVQ p+0(FP), AX
	MOVQ text+8(FP), SI
	MOVQ from+16(FP), DX
	MOVQ positions+24(FP), R12
	LEAQ -32(R12), R11
	MOVQ pair_at(AX), R8
	ADDQ SI, R8
	MOVQ pair_at+8(AX), R9
	ADDQ SI, R9
	VPBROADCASTB pair_want(AX), Y8
	VPBROADCASTB pair_want+1(AX), Y9
	VPBROADCASTB pair_either(AX), Y10
	VPBROADCASTB pair_either+1(AX), Y11
	VPXOR Y6, Y6, Y6
	SCAN(TWO)

// A byte is in a set if the bit of its upper half is in what a table has for
// its lower half. There are two such tables, for bytes below 0x80 and for the
// others: a look-up makes 0 of an index from 0x80 on.
#define IN(offset, to) \
	VMOVDQU offset(SI)(DX*1), to \
	VPSRLW  $4, to, Y5           \
	VPAND   Y7, Y5, Y5           \
	VPXOR   Y4, to, Y3           \
	VPSHUFB to, Y8, to           \
	VPSHUFB Y3, Y9, Y3           \
	VPSHUFB Y5, Y10, Y5          \
	VPOR    Y3, to, to           \
	VPAND   Y5, to, to

// func avx2Stop(tables *[3][16]byte, text *byte, from, length int) int
TEXT ·avx2Stop(SB), NOSPLIT, $0-40
	MOVQ tables+0(FP), AX
	MOVQ text+8(FP), SI
	MOVQ from+16(FP), DX
	MOVQ length+24(FP), R12
	LEAQ -32(R12), R11
	VBROADCASTI128 (AX), Y8
	VBROADCASTI128 16(AX), Y9
	VBROADCASTI128 32(AX), Y10
	MOVL  $0x0f, CX
	VMOVD CX, X7
	VPBROADCASTB X7, Y7
	MOVL  $0x80, CX
	VMOVD CX, X4
	VPBROADCASTB X4, Y4
	VPXOR Y6, Y6, Y6

next:
	CMPQ  DX, R11
	JGT   rest
	IN(0, Y0)
	MASK
	TESTL AX, AX
	JNZ   hit
	ADDQ  $32, DX
	JMP   next

rest:
	CMPQ DX, R12
	JGE  none
	MOVQ DX, R13
	SUBQ R11, R13
	MOVQ R11, DX
	IN(0, Y0)
	MASK
	MOVQ R13, CX
	SHRL CX, AX
	SHLL CX, AX
	TESTL AX, AX
	JZ   none

hit:
	TZCNTL AX, AX
	ADDQ AX, DX
	MOVQ DX, ret+32(FP)
	VZEROUPPER
	RET

none:
	MOVQ R12, ret+32(FP)
	VZEROUPPER
	RET
