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

// AND leaves in a what is in all of them. COPY keeps the text for the other half
// of the tables: a look-up overwrites it.
#define AND(a, b, c, d) \
	VPANDQ a, b, a \
	VPTERNLOGQ $0x80, c, d, a

#define COPY \
	VMOVDQA64 Z0, Z8  \
	VMOVDQA64 Z1, Z9  \
	VMOVDQA64 Z2, Z10 \
	VMOVDQA64 Z3, Z11

// SEVEN leaves in K1 the positions where no place has a byte from 0x80 on, if
// no window has any: then 128 entries do, which take the low seven bits.
#define SEVEN \
	VPORQ Z0, Z1, Z4             \
	VPTERNLOGQ $0xFE, Z2, Z3, Z4 \
	VPTESTNMB Z4, Z15, K7, K1

#define LOWSLIM(k) \
	SEVEN                 \
	VPERMI2B Z17, Z16, Z0 \
	VPERMI2B Z19, Z18, Z1 \
	VPERMI2B Z21, Z20, Z2 \
	VPERMI2B Z23, Z22, Z3 \
	AND(Z0, Z1, Z2, Z3)   \
	VPTESTMB Z0, Z0, K1, k

#define LOWFAT(k) \
	SEVEN                  \
	COPY                   \
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
	VPTESTMB Z0, Z0, K1, k

// ALL looks up any byte: in the tables of the low ones and of the high ones.
#define ALL(x, low0, low1, high0, high1) \
	VPMOVB2M x, K1           \
	VMOVDQA64 x, Z4          \
	VPERMI2B low1, low0, x   \
	VPERMI2B high1, high0, Z4 \
	VMOVDQU8 Z4, K1, x

#define ALLSLIM(k) \
	ALL(Z0, Z16, Z24, Z17, Z25) \
	ALL(Z1, Z18, Z26, Z19, Z27) \
	ALL(Z2, Z20, Z28, Z21, Z29) \
	ALL(Z3, Z22, Z30, Z23, Z31) \
	AND(Z0, Z1, Z2, Z3)         \
	VPTESTMB Z0, Z0, K7, k

// There are not as many registers as this has tables.
#define ALLFAT(k) \
	COPY                                   \
	ALL(Z0, Z16, 64(AX), Z17, 192(AX))     \
	ALL(Z1, Z18, 320(AX), Z19, 448(AX))    \
	ALL(Z2, Z20, 576(AX), Z21, 704(AX))    \
	ALL(Z3, Z22, 832(AX), Z23, 960(AX))    \
	AND(Z0, Z1, Z2, Z3)                    \
	ALL(Z8, Z24, 1088(AX), Z25, 1216(AX))  \
	ALL(Z9, Z26, 1344(AX), Z27, 1472(AX))  \
	ALL(Z10, Z28, 1600(AX), Z29, 1728(AX)) \
	ALL(Z11, Z30, 1856(AX), Z31, 1984(AX)) \
	AND(Z8, Z9, Z10, Z11)                  \
	VPORQ Z0, Z8, Z0                       \
	VPTESTMB Z0, Z0, K7, k

// TABLES loads two quarters of the tables for eight buckets. A table has 256
// entries: the low bytes, the high ones.
#define TABLES(offset, step, t0, t1, t2, t3, t4, t5, t6, t7) \
	VMOVDQU8 offset+0(AX), t0        \
	VMOVDQU8 offset+step+0(AX), t1   \
	VMOVDQU8 offset+256(AX), t2      \
	VMOVDQU8 offset+step+256(AX), t3 \
	VMOVDQU8 offset+512(AX), t4      \
	VMOVDQU8 offset+step+512(AX), t5 \
	VMOVDQU8 offset+768(AX), t6      \
	VMOVDQU8 offset+step+768(AX), t7

#define SIGNS \
	MOVL $0x80, CX \
	VPBROADCASTB CX, Z15

// func vbmiSlimLow(tables *whole, text *byte, positions, last int) (at int, mask uint64)
TEXT ·vbmiSlimLow(SB), NOSPLIT, $0-48
	SETUP
	SIGNS
	TABLES(0, 64, Z16, Z17, Z18, Z19, Z20, Z21, Z22, Z23)
	SCAN(MASKFOUR, LOADFOUR, LOWSLIM)

// func vbmiFatLow(tables *whole, text *byte, positions, last int) (at int, mask uint64)
TEXT ·vbmiFatLow(SB), NOSPLIT, $0-48
	SETUP
	SIGNS
	TABLES(0, 64, Z16, Z17, Z18, Z19, Z20, Z21, Z22, Z23)
	TABLES(1024, 64, Z24, Z25, Z26, Z27, Z28, Z29, Z30, Z31)
	SCAN(MASKFOUR, LOADFOUR, LOWFAT)

// func vbmiSlim(tables *whole, text *byte, positions, last int) (at int, mask uint64)
TEXT ·vbmiSlim(SB), NOSPLIT, $0-48
	SETUP
	TABLES(0, 128, Z16, Z17, Z18, Z19, Z20, Z21, Z22, Z23)
	TABLES(64, 128, Z24, Z25, Z26, Z27, Z28, Z29, Z30, Z31)
	SCAN(MASKFOUR, LOADFOUR, ALLSLIM)

// func vbmiFat(tables *whole, text *byte, positions, last int) (at int, mask uint64)
TEXT ·vbmiFat(SB), NOSPLIT, $0-48
	SETUP
	TABLES(0, 128, Z16, Z17, Z18, Z19, Z20, Z21, Z22, Z23)
	TABLES(1024, 128, Z24, Z25, Z26, Z27, Z28, Z29, Z30, Z31)
	SCAN(MASKFOUR, LOADFOUR, ALLFAT)

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
