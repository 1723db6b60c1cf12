#include "go_asm.h"
#include "textflag.h"

// Positions are taken 64 at a time. Z0 to Z3 are the text at the position of
// each place; the tables make of it the buckets that have these bytes there; AND
// leaves the buckets that have them all. What is not looked at is not read: the
// masked load of a block touches, at each place, the positions that exist only.
// Two blocks at a time make 33 GB/s where one makes 24.
//
// SI, R8, R9, R10: text of each place   DX: position
// BX: positions left   K7: of these, those in the block   AX: tables
// Z16 to Z31: the tables, or what there is room for

// SETUP finds the k-th place, which is the last one if there are fewer.
#define SETUP \
	MOVQ  text+8(FP), SI      \
	MOVQ  positions+16(FP), BX \
	MOVQ  last+24(FP), CX     \
	MOVQ  tables+0(FP), AX    \
	LEAQ  (SI)(CX*1), R10     \
	LEAQ  1(SI), R8           \
	CMPQ  CX, $1              \
	CMOVQLT R10, R8           \
	LEAQ  2(SI), R9           \
	CMPQ  CX, $2              \
	CMOVQLT R10, R9           \
	XORQ  DX, DX

#define LOADFOUR(offset) \
	VMOVDQU8 offset(SI)(DX*1), Z0  \
	VMOVDQU8 offset(R8)(DX*1), Z1  \
	VMOVDQU8 offset(R9)(DX*1), Z2  \
	VMOVDQU8 offset(R10)(DX*1), Z3

#define MASKFOUR \
	VMOVDQU8.Z (SI)(DX*1), K7, Z0    \
	VMOVDQU8.Z (R8)(DX*1), K7, Z1    \
	VMOVDQU8.Z (R9)(DX*1), K7, Z2    \
	VMOVDQU8.Z (R10)(DX*1), K7, Z3

// SCAN goes over the text by one block, masked, then by two as long as these
// are whole; K7 is all ones by then. BLOCK(k) makes of what has been loaded a mask
// of hits.
#define SCAN(LOADMASKED, LOAD, BLOCK) \
masked:                  \
	MOVQ  $-1, CX        \
	CMPQ  BX, $64        \
	JGE   mask           \
	BZHIQ BX, CX, CX     \
mask:                    \
	KMOVQ CX, K7         \
	LOADMASKED           \
	BLOCK(K2)            \
	KMOVQ K2, CX         \
	TESTQ CX, CX         \
	JNZ   hit            \
	ADDQ  $64, DX        \
	SUBQ  $64, BX        \
	JLE   none           \
pairs:                   \
	CMPQ  BX, $128       \
	JLT   masked         \
	LOAD(0)              \
	BLOCK(K2)            \
	LOAD(64)             \
	BLOCK(K3)            \
	KORTESTQ K2, K3      \
	JNZ   either         \
	ADDQ  $128, DX       \
	SUBQ  $128, BX       \
	JNZ   pairs          \
none:                    \
	MOVQ  positions+16(FP), DX \
	XORQ  CX, CX         \
hit:                     \
	MOVQ  DX, at+32(FP)  \
	MOVQ  CX, mask+40(FP) \
	VZEROUPPER           \
	RET                  \
either:                  \
	KMOVQ K2, CX         \
	TESTQ CX, CX         \
	JNZ   hit            \
	KMOVQ K3, CX         \
	ADDQ  $64, DX        \
	JMP   hit

// AND leaves in a what is in all of them.
#define AND(a, b, c, d) \
	VPANDQ a, b, a \
	VPTERNLOGQ $0x80, c, d, a

// SLIM and FAT look up the low seven bits of each byte.
#define SLIM(k) \
	VPERMI2B Z17, Z16, Z0 \
	VPERMI2B Z19, Z18, Z1 \
	VPERMI2B Z21, Z20, Z2 \
	VPERMI2B Z23, Z22, Z3 \
	AND(Z0, Z1, Z2, Z3)   \
	VPTESTMB Z0, Z0, K7, k

#define FAT(k) \
	VMOVDQA64 Z0, Z8       \
	VMOVDQA64 Z1, Z9       \
	VMOVDQA64 Z2, Z10      \
	VMOVDQA64 Z3, Z11      \
	VPERMI2B Z17, Z16, Z0  \
	VPERMI2B Z19, Z18, Z1  \
	VPERMI2B Z21, Z20, Z2  \
	VPERMI2B Z23, Z22, Z3  \
	AND(Z0, Z1, Z2, Z3)    \
	VPERMI2B Z25, Z24, Z8  \
	VPERMI2B Z27, Z26, Z9  \
	VPERMI2B Z29, Z28, Z10 \
	VPERMI2B Z31, Z30, Z11 \
	AND(Z8, Z9, Z10, Z11)  \
	VPORQ Z0, Z8, Z0       \
	VPTESTMB Z0, Z0, K7, k

// TABLES loads the tables for eight buckets, of 128 entries each.
#define TABLES(offset, t0, t1, t2, t3, t4, t5, t6, t7) \
	VMOVDQU8 offset+0(AX), t0   \
	VMOVDQU8 offset+64(AX), t1  \
	VMOVDQU8 offset+128(AX), t2 \
	VMOVDQU8 offset+192(AX), t3 \
	VMOVDQU8 offset+256(AX), t4 \
	VMOVDQU8 offset+320(AX), t5 \
	VMOVDQU8 offset+384(AX), t6 \
	VMOVDQU8 offset+448(AX), t7

// func vbmiSlim(tables *sevens, text *byte, positions, last int) (at int, mask uint64)
TEXT ·vbmiSlim(SB), NOSPLIT, $0-48
	SETUP
	TABLES(0, Z16, Z17, Z18, Z19, Z20, Z21, Z22, Z23)
	SCAN(MASKFOUR, LOADFOUR, SLIM)

// func vbmiFat(tables *sevens, text *byte, positions, last int) (at int, mask uint64)
TEXT ·vbmiFat(SB), NOSPLIT, $0-48
	SETUP
	TABLES(0, Z16, Z17, Z18, Z19, Z20, Z21, Z22, Z23)
	TABLES(512, Z24, Z25, Z26, Z27, Z28, Z29, Z30, Z31)
	SCAN(MASKFOUR, LOADFOUR, FAT)

// Two places of one window are compared, which is all that is looked at.
//
// R8, R9: text of each   Z16, Z17: the bytes   Z18, Z19: bits that do not matter
#define LOADTWO(offset) \
	VPORQ offset(R8)(DX*1), Z18, Z0 \
	VPORQ offset(R9)(DX*1), Z19, Z1

#define MASKTWO \
	VMOVDQU8.Z (R8)(DX*1), K7, Z0 \
	VMOVDQU8.Z (R9)(DX*1), K7, Z1 \
	VPORQ Z0, Z18, Z0             \
	VPORQ Z1, Z19, Z1

#define TWO(k) \
	VPCMPEQB Z0, Z16, K7, k \
	VPCMPEQB Z1, Z17, k, k

// func vbmiPair(p *pair, text *byte, positions, last int) (at int, mask uint64)
TEXT ·vbmiPair(SB), NOSPLIT, $0-48
	MOVQ p+0(FP), AX
	MOVQ text+8(FP), SI
	MOVQ positions+16(FP), BX
	MOVQ pair_at(AX), R8
	ADDQ SI, R8
	MOVQ pair_at+8(AX), R9
	ADDQ SI, R9
	MOVBLZX pair_want(AX), CX
	VPBROADCASTB CX, Z16
	MOVBLZX pair_want+1(AX), CX
	VPBROADCASTB CX, Z17
	MOVBLZX pair_either(AX), CX
	VPBROADCASTB CX, Z18
	MOVBLZX pair_either+1(AX), CX
	VPBROADCASTB CX, Z19
	XORQ DX, DX
	SCAN(MASKTWO, LOADTWO, TWO)
