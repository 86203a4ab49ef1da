#include "textflag.h"

// The fields of fixing.
#define F_X 0
#define F_TO 8
#define F_SUMS 16
#define F_UNITS 24
#define F_JOIN 32

// MOST sets all lanes of r to the greatest of them.
#define MOST(r) \
	VSHUFF32X4 $0x4E, r, r, Z28 \
	VPMAXUD    Z28, r, r        \
	VSHUFF32X4 $0xB1, r, r, Z28 \
	VPMAXUD    Z28, r, r        \
	VPERMILPS  $0x4E, r, Z28    \
	VPMAXUD    Z28, r, r        \
	VPERMILPS  $0xB1, r, Z28    \
	VPMAXUD    Z28, r, r

// TOTAL sets all lanes of r to their sum.
#define TOTAL(r) \
	VSHUFF32X4 $0x4E, r, r, Z28 \
	VPADDD     Z28, r, r        \
	VSHUFF32X4 $0xB1, r, r, Z28 \
	VPADDD     Z28, r, r        \
	VPERMILPS  $0x4E, r, Z28    \
	VPADDD     Z28, r, r        \
	VPERMILPS  $0xB1, r, Z28    \
	VPADDD     Z28, r, r

// GREATEST sets r to the greatest magnitude of the 32 elements in a and b.
#define GREATEST(a, b, r) \
	VPANDD  Z31, a, r   \
	VPANDD  Z31, b, Z28 \
	VPMAXUD Z28, r, r   \
	MOST(r)

// INTEGERS makes integers of the elements in a and b, whose greatest magnitude is r, and r their unit. sum has the sum
// of the integers.
#define INTEGERS(a, b, r, sum) \
	VPSRLD    $23, r, r    \
	VPMAXUD   Z30, r, r    \
	VPSUBD    r, Z29, Z28  \
	VPSLLD    $23, Z28, Z28 \
	VMULPS    Z28, a, a    \
	VMULPS    Z28, b, b    \
	VCVTPS2DQ a, a         \
	VCVTPS2DQ b, b         \
	VPSUBD    Z27, r, r    \
	VPSLLD    $23, r, r    \
	VPADDD    a, b, sum    \
	TOTAL(sum)

// DIGITS stores the digits of the integers in a and b: those of the even ones, and those of the odd ones.
#define DIGITS(a, b, at) \
	VMOVDQA64 a, Z28              \
	VPERMT2D  b, Z25, Z28         \
	VPERMT2D  b, Z26, a           \
	VPMOVDB   Z28, 256+at(DI)     \
	VPMOVDB   a, 320+at(DI)       \
	VPADDD    Z24, Z28, Z28       \
	VPADDD    Z24, a, a           \
	VPSRAD    $8, Z28, Z28        \
	VPSRAD    $8, a, a            \
	VPMOVDB   Z28, 128+at(DI)     \
	VPMOVDB   a, 192+at(DI)       \
	VPADDD    Z24, Z28, Z28       \
	VPADDD    Z24, a, a           \
	VPSRAD    $8, Z28, Z28        \
	VPSRAD    $8, a, a            \
	VPMOVDB   Z28, at(DI)         \
	VPMOVDB   a, 64+at(DI)

DATA fixedEven<>+0x00(SB)/8, $0x0000000200000000
DATA fixedEven<>+0x08(SB)/8, $0x0000000600000004
DATA fixedEven<>+0x10(SB)/8, $0x0000000a00000008
DATA fixedEven<>+0x18(SB)/8, $0x0000000e0000000c
DATA fixedEven<>+0x20(SB)/8, $0x0000001200000010
DATA fixedEven<>+0x28(SB)/8, $0x0000001600000014
DATA fixedEven<>+0x30(SB)/8, $0x0000001a00000018
DATA fixedEven<>+0x38(SB)/8, $0x0000001e0000001c
GLOBL fixedEven<>(SB), RODATA|NOPTR, $64

// func fixUnits(f *fixing) (most uint32)
TEXT ·fixUnits(SB), NOSPLIT, $0-12
	MOVQ         f+0(FP), AX
	MOVQ         F_X(AX), SI
	MOVQ         F_TO(AX), DI
	MOVQ         F_SUMS(AX), BX
	MOVQ         F_UNITS(AX), CX
	MOVQ         F_JOIN(AX), R8
	MOVL         $0x7FFFFFFF, DX
	VPBROADCASTD DX, Z31
	MOVL         $103, DX                   // the exponent of 2^-24
	VPBROADCASTD DX, Z30
	MOVL         $275, DX                   // less an exponent is that of 2^21 over its power
	VPBROADCASTD DX, Z29
	MOVL         $21, DX
	VPBROADCASTD DX, Z27
	MOVL         $128, DX
	VPBROADCASTD DX, Z24
	VMOVDQU32    fixedEven<>+0(SB), Z25
	MOVL         $1, DX
	VPBROADCASTD DX, Z26
	VPADDD       Z25, Z26, Z26
	VPXORD       Z20, Z20, Z20

unit:
	VMOVUPS 0(SI), Z0
	VMOVUPS 64(SI), Z1
	VMOVUPS 128(SI), Z2
	VMOVUPS 192(SI), Z3
	VMOVUPS 256(SI), Z4
	VMOVUPS 320(SI), Z5
	VMOVUPS 384(SI), Z6
	VMOVUPS 448(SI), Z7
	GREATEST(Z0, Z1, Z8)
	GREATEST(Z2, Z3, Z9)
	GREATEST(Z4, Z5, Z10)
	GREATEST(Z6, Z7, Z11)
	CMPQ    R8, $1
	JLT     apart
	VPMAXUD Z8, Z9, Z8
	VPMAXUD Z10, Z11, Z10
	JEQ     pairs
	VPMAXUD Z8, Z10, Z8
	VMOVDQA64 Z8, Z10

pairs:
	VMOVDQA64 Z8, Z9
	VMOVDQA64 Z10, Z11

apart:
	VPMAXUD Z8, Z20, Z20
	VPMAXUD Z9, Z20, Z20
	VPMAXUD Z10, Z20, Z20
	VPMAXUD Z11, Z20, Z20
	INTEGERS(Z0, Z1, Z8, Z12)
	INTEGERS(Z2, Z3, Z9, Z13)
	INTEGERS(Z4, Z5, Z10, Z14)
	INTEGERS(Z6, Z7, Z11, Z15)
	DIGITS(Z0, Z1, 0)
	DIGITS(Z2, Z3, 16)
	DIGITS(Z4, Z5, 32)
	DIGITS(Z6, Z7, 48)
	VMOVUPS X8, 384(DI)
	VMOVUPS X9, 400(DI)
	VMOVUPS X10, 416(DI)
	VMOVUPS X11, 432(DI)
	CMPQ    R8, $1
	JLT     sums
	VPADDD  Z13, Z12, Z12
	VPADDD  Z15, Z14, Z14
	JEQ     sums
	VPADDD  Z14, Z12, Z12

sums:
	VCVTDQ2PS Z12, Z12
	VCVTDQ2PS Z13, Z13
	VCVTDQ2PS Z14, Z14
	VCVTDQ2PS Z15, Z15
	VMULSS    X8, X12, X12
	VMULSS    X9, X13, X13
	VMULSS    X10, X14, X14
	VMULSS    X11, X15, X15
	VMOVSS    X12, 0(BX)
	VMOVSS    X13, 4(BX)
	VMOVSS    X14, 8(BX)
	VMOVSS    X15, 12(BX)
	ADDQ      $512, SI
	ADDQ      $448, DI
	ADDQ      $16, BX
	DECQ      CX
	JNE       unit
	VMOVD     X20, DX
	MOVL      DX, most+8(FP)
	VZEROUPPER
	RET

// COUNT leaves R9 at least by how much twice the elements in a and b that are less than 2^-12 of r, and not 0, exceed
// those that are not 0, or 1. r has the bits of the greatest magnitude of their group.
#define COUNT(a, b, r) \
	VPSRLD  $23, r, r       \
	VPMAXUD Z30, r, r       \
	VPSUBD  Z27, r, r       \
	VPSLLD  $23, r, r       \
	VPSUBD  Z26, r, r       \
	VPANDD  Z31, a, a       \
	VPANDD  Z31, b, b       \
	VPTESTMD a, a, K1       \
	VPTESTMD b, b, K2       \
	BITS(R11)               \
	VPSUBD  Z26, a, a       \
	VPSUBD  Z26, b, b       \
	VPCMPUD $1, r, a, K1    \
	VPCMPUD $1, r, b, K2    \
	BITS(DX)                \
	ADDL    DX, DX          \
	CMPL    R11, R12        \
	CMOVLLT R12, R11        \
	SUBL    R11, DX         \
	CMPL    DX, R9          \
	CMOVLGT DX, R9

// BITS sets r to the number of bits in K1 and K2.
#define BITS(r) \
	KMOVW   K1, r           \
	KMOVW   K2, R10         \
	SHLL    $16, R10        \
	ORL     R10, r          \
	POPCNTL r, r

// func countSteep(f *fixing) (most int32)
TEXT ·countSteep(SB), NOSPLIT, $0-12
	MOVQ         f+0(FP), AX
	MOVQ         F_X(AX), SI
	MOVQ         F_UNITS(AX), CX
	MOVQ         F_JOIN(AX), R8
	MOVL         $-1, R9
	MOVL         $1, R12
	MOVL         $0x7FFFFFFF, DX
	VPBROADCASTD DX, Z31
	MOVL         $103, DX                   // the exponent of 2^-24
	VPBROADCASTD DX, Z30
	MOVL         $12, DX
	VPBROADCASTD DX, Z27
	MOVL         $1, DX
	VPBROADCASTD DX, Z26

unit:
	VMOVUPS 0(SI), Z0
	VMOVUPS 64(SI), Z1
	VMOVUPS 128(SI), Z2
	VMOVUPS 192(SI), Z3
	VMOVUPS 256(SI), Z4
	VMOVUPS 320(SI), Z5
	VMOVUPS 384(SI), Z6
	VMOVUPS 448(SI), Z7
	GREATEST(Z0, Z1, Z8)
	GREATEST(Z2, Z3, Z9)
	GREATEST(Z4, Z5, Z10)
	GREATEST(Z6, Z7, Z11)
	CMPQ    R8, $1
	JLT     apart
	VPMAXUD Z8, Z9, Z8
	VPMAXUD Z10, Z11, Z10
	JEQ     pairs
	VPMAXUD Z8, Z10, Z8
	VMOVDQA64 Z8, Z10

pairs:
	VMOVDQA64 Z8, Z9
	VMOVDQA64 Z10, Z11

apart:
	COUNT(Z0, Z1, Z8)
	COUNT(Z2, Z3, Z9)
	COUNT(Z4, Z5, Z10)
	COUNT(Z6, Z7, Z11)
	ADDQ    $512, SI
	DECQ    CX
	JNE     unit
	MOVL    R9, most+8(FP)
	VZEROUPPER
	RET
