#include "textflag.h"

// The fields of fixes.
#define SUMS 0
#define DATA_ 8
#define DIGITS 16
#define SCALE 24
#define PRODUCT 32
#define VECTOR 40
#define ROWS 48
#define UNITS 56
#define LAST 64
#define EACH 72
#define BLOCKS 80
#define MORE 88
#define FLIP 92

// The lanes of a unit that belong to the second, third and fourth block of 32, or to the second of 64.
DATA fixed32<>+0x00(SB)/8, $0x0000000000000000
DATA fixed32<>+0x08(SB)/8, $0x0000000000000000
DATA fixed32<>+0x10(SB)/8, $0x0000000100000001
DATA fixed32<>+0x18(SB)/8, $0x0000000100000001
DATA fixed32<>+0x20(SB)/8, $0x0000000200000002
DATA fixed32<>+0x28(SB)/8, $0x0000000200000002
DATA fixed32<>+0x30(SB)/8, $0x0000000300000003
DATA fixed32<>+0x38(SB)/8, $0x0000000300000003
GLOBL fixed32<>(SB), RODATA|NOPTR, $64

DATA fixed64<>+0x00(SB)/8, $0x0000000000000000
DATA fixed64<>+0x08(SB)/8, $0x0000000000000000
DATA fixed64<>+0x10(SB)/8, $0x0000000000000000
DATA fixed64<>+0x18(SB)/8, $0x0000000000000000
DATA fixed64<>+0x20(SB)/8, $0x0000000100000001
DATA fixed64<>+0x28(SB)/8, $0x0000000100000001
DATA fixed64<>+0x30(SB)/8, $0x0000000100000001
DATA fixed64<>+0x38(SB)/8, $0x0000000100000001
GLOBL fixed64<>(SB), RODATA|NOPTR, $64

// STRIDE sets R12 and R13 to the bytes of one row of data and of three: the whole units and the last.
#define STRIDE \
	MOVQ    UNITS(AX), R12     \
	SHLQ    $6, R12            \
	XORL    R13, R13           \
	CMPQ    R11, $0xFF         \
	SETEQ   R13                \
	SHLQ    $5, R13            \
	SUBQ    R13, R12           \
	LEAQ    (R12)(R12*2), R13

// START reads the arguments. R8 is the data of a row, R10 the bytes from the scales of the first row to its own, DI its
// sum; R12 and R14 are the bytes of a row of data and of scales, R13 and R15 those of three rows. Z31 has the bits of
// an integer, Z23 those that are flipped.
#define START(places) \
	MOVQ         d+0(FP), AX     \
	MOVQ         SUMS(AX), DI    \
	MOVQ         DATA_(AX), R8   \
	MOVQ         LAST(AX), R11   \
	MOVQ         BLOCKS(AX), R14 \
	SHLQ         $2, R14         \
	LEAQ         (R14)(R14*2), R15 \
	XORL         R10, R10        \
	STRIDE                       \
	MOVL         $0x0F0F0F0F, DX \
	VPBROADCASTD DX, Z31         \
	VPBROADCASTD FLIP(AX), Z23   \
	VBROADCASTSS MORE(AX), Z22   \
	VMOVDQU32    places, Z20

// ROW begins one to four rows. SI is the vector, DX counts its units, CX those of a block, R9 is the scales. K1 has the
// lanes that a unit has.
#define ROW \
	MOVQ   DIGITS(AX), SI     \
	MOVQ   UNITS(AX), DX      \
	MOVQ   EACH(AX), CX       \
	MOVQ   SCALE(AX), R9      \
	ADDQ   R10, R9            \
	KXNORW K1, K1, K1

// UNIT reads a unit of the vector: three digits of the even and of the odd elements, and the unit of its integers.
#define UNIT \
	VMOVDQU64    0(SI), Z24   \
	VMOVDQU64    64(SI), Z25  \
	VMOVDQU64    128(SI), Z26 \
	VMOVDQU64    192(SI), Z27 \
	VMOVDQU64    256(SI), Z28 \
	VMOVDQU64    320(SI), Z29 \
	VBROADCASTSS 384(SI), Z30 \
	ADDQ         $448, SI

// INTEGERS sets a and b to the integers of a unit of a row, whose bits are in a: the even ones and the odd ones.
#define INTEGERS(a, b) \
	VPSRLD     $4, a, b           \
	VPTERNLOGD $0x28, Z31, Z23, a \
	VPTERNLOGD $0x28, Z31, Z23, b

// DIGIT adds to n the products of the integers with a digit of the vector.
#define DIGIT(even, odd, a, b, n) \
	VPDPBUSD even, a, n \
	VPDPBUSD odd, b, n

// ADD adds integers times scales to sum.
#define ADD(n, s, sum) \
	VCVTDQ2PS   n, n      \
	VFMADD231PS s, n, sum

// SCALE32, SCALE64 and SCALES give each lane the scale of its block, the last where a unit has one block.
#define SCALE32(at, s) \
	VBROADCASTF32X4 at, s     \
	VPERMILPS       Z20, s, s
#define SCALE64(at, s) \
	VBROADCASTF32X2 at, s     \
	VPERMILPS       Z20, s, s
#define SCALES(at, s) \
	VBROADCASTSS at, s   \
	VMULPS       Z30, s, s

// NEXT32, NEXT64 and NEXTS go on to the scales of the next unit.
#define NEXT32 \
	ADDQ $16, R9
#define NEXT64 \
	ADDQ $8, R9
#define NEXTS \
	LEAQ    4(R9), BX         \
	DECQ    CX                \
	CMOVQEQ BX, R9            \
	CMOVQEQ EACH(AX), CX

// LASTUNIT leaves K1 the lanes that the last unit has.
#define LASTUNIT(whole) \
	CMPQ  DX, $1    \
	JNE   whole     \
	KMOVW R11, K1

// OFFSETS begins the offsets of one to four rows. R9 is the scales, SI their products with the offsets, DX the sums of
// the vector's elements and their units, CX counts the blocks, of which K2 has sixteen or those that are left.
#define OFFSETS \
	MOVQ   SCALE(AX), R9   \
	MOVQ   PRODUCT(AX), SI \
	ADDQ   R10, R9         \
	ADDQ   R10, SI         \
	MOVQ   VECTOR(AX), DX  \
	MOVQ   BLOCKS(AX), CX  \
	KXNORW K2, K2, K2      \
	VPXORD Z0, Z0, Z0      \
	VPXORD Z1, Z1, Z1      \
	VPXORD Z2, Z2, Z2      \
	VPXORD Z3, Z3, Z3

// FEW leaves K2 the blocks that are left.
#define FEW(whole) \
	CMPQ  CX, $16  \
	JGE   whole    \
	MOVL  $1, BX   \
	SHLL  CX, BX   \
	DECL  BX       \
	KMOVW BX, K2

// OFFSET subtracts from sum what the offsets of sixteen blocks take from a row: the product of scale and offset times
// the sum of the vector's elements, which Z16 has. It is more for signed integers, to which the kernels add 8. The
// scales become those of the vector's integers: Z19 has their units.
#define OFFSET(scale, product, sum) \
	VMOVUPS.Z scale, K2, Z17   \
	VMOVUPS.Z product, K2, Z18 \
	VMULPS    Z22, Z17, Z15    \
	VADDPS    Z15, Z18, Z18    \
	VMULPS    Z16, Z18, Z18    \
	VSUBPS    Z18, sum, sum    \
	VMULPS    Z19, Z17, Z17    \
	VMOVUPS   Z17, K2, scale

// TOTAL stores the sum of the lanes of z, whose low lanes are x, at is its place.
#define TOTAL(z, x, at) \
	VSHUFF32X4 $0x4E, z, z, Z8 \
	VADDPS     Z8, z, z        \
	VSHUFF32X4 $0xB1, z, z, Z8 \
	VADDPS     Z8, z, z        \
	VPERMILPS  $0x4E, z, Z8    \
	VADDPS     Z8, z, z        \
	VPERMILPS  $0xB1, z, Z8    \
	VADDPS     Z8, z, z        \
	VMOVSS     x, at(DI)

// DIGITS4 is DIGIT of four rows, one after the other, so that none waits for its own sum.
#define DIGITS4(even, odd) \
	VPDPBUSD even, Z4, Z6   \
	VPDPBUSD even, Z7, Z9   \
	VPDPBUSD even, Z10, Z12 \
	VPDPBUSD even, Z13, Z15 \
	VPDPBUSD odd, Z5, Z6    \
	VPDPBUSD odd, Z8, Z9    \
	VPDPBUSD odd, Z11, Z12  \
	VPDPBUSD odd, Z14, Z15

// LEFT4 makes room for the next digit.
#define LEFT4 \
	VPSLLD $8, Z6, Z6   \
	VPSLLD $8, Z9, Z9   \
	VPSLLD $8, Z12, Z12 \
	VPSLLD $8, Z15, Z15

// FOUR is a kernel of a multiple of four rows.
#define FOUR(places, scales, next) \
	START(places)                             \
row:                                              \
	OFFSETS                                   \
blocks:                                           \
	FEW(many)                                 \
many:                                             \
	VMOVUPS 0(DX), Z16                        \
	VMOVUPS 64(DX), Z19                       \
	OFFSET((R9), (SI), Z0)                    \
	OFFSET((R9)(R14*1), (SI)(R14*1), Z1)      \
	OFFSET((R9)(R14*2), (SI)(R14*2), Z2)      \
	OFFSET((R9)(R15*1), (SI)(R15*1), Z3)      \
	ADDQ        $128, DX                      \
	ADDQ        $64, R9                       \
	ADDQ        $64, SI                       \
	SUBQ        $16, CX                       \
	JG          blocks                        \
	ROW                                       \
unit:                                             \
	LASTUNIT(whole)                           \
whole:                                            \
	UNIT                                      \
	PREFETCHT1  12288(R8)                     \
	PREFETCHT1  12288(R8)(R12*1)              \
	PREFETCHT1  12288(R8)(R12*2)              \
	PREFETCHT1  12288(R8)(R13*1)              \
	VMOVDQU32.Z (R8), K1, Z4                  \
	VMOVDQU32.Z (R8)(R12*1), K1, Z7           \
	VMOVDQU32.Z (R8)(R12*2), K1, Z10          \
	VMOVDQU32.Z (R8)(R13*1), K1, Z13          \
	scales((R9), Z16)                         \
	scales((R9)(R14*1), Z17)                  \
	scales((R9)(R14*2), Z18)                  \
	scales((R9)(R15*1), Z19)                  \
	INTEGERS(Z4, Z5)                          \
	INTEGERS(Z7, Z8)                          \
	INTEGERS(Z10, Z11)                        \
	INTEGERS(Z13, Z14)                        \
	VPXORD      Z6, Z6, Z6                    \
	VPXORD      Z9, Z9, Z9                    \
	VPXORD      Z12, Z12, Z12                 \
	VPXORD      Z15, Z15, Z15                 \
	DIGITS4(Z24, Z25)                         \
	LEFT4                                     \
	DIGITS4(Z26, Z27)                         \
	LEFT4                                     \
	DIGITS4(Z28, Z29)                         \
	ADD(Z6, Z16, Z0)                          \
	ADD(Z9, Z17, Z1)                          \
	ADD(Z12, Z18, Z2)                         \
	ADD(Z15, Z19, Z3)                         \
	next                                      \
	ADDQ        $64, R8                       \
	DECQ        DX                            \
	JNE         unit                          \
	TOTAL(Z0, X0, 0)                          \
	TOTAL(Z1, X1, 4)                          \
	TOTAL(Z2, X2, 8)                          \
	TOTAL(Z3, X3, 12)                         \
	ADDQ        $16, DI                       \
	LEAQ        (R10)(R14*4), R10             \
	MOVQ        UNITS(AX), BX                 \
	SHLQ        $6, BX                        \
	SUBQ        BX, R8                        \
	LEAQ        (R8)(R12*4), R8               \
	SUBQ        $4, ROWS(AX)                  \
	JNE         row                           \
	VZEROUPPER                                \
	RET

// ONE is a kernel of any number of rows.
#define ONE(places, scales, next) \
	START(places)                \
row:                                 \
	OFFSETS                      \
blocks:                              \
	FEW(many)                    \
many:                                \
	VMOVUPS     0(DX), Z16       \
	VMOVUPS     64(DX), Z19      \
	OFFSET((R9), (SI), Z0)       \
	ADDQ        $128, DX         \
	ADDQ        $64, R9          \
	ADDQ        $64, SI          \
	SUBQ        $16, CX          \
	JG          blocks           \
	ROW                          \
unit:                                \
	LASTUNIT(whole)              \
whole:                               \
	UNIT                         \
	VMOVDQU32.Z (R8), K1, Z4     \
	scales((R9), Z16)            \
	INTEGERS(Z4, Z5)             \
	VPXORD      Z6, Z6, Z6       \
	DIGIT(Z24, Z25, Z4, Z5, Z6)  \
	VPSLLD      $8, Z6, Z6       \
	DIGIT(Z26, Z27, Z4, Z5, Z6)  \
	VPSLLD      $8, Z6, Z6       \
	DIGIT(Z28, Z29, Z4, Z5, Z6)  \
	ADD(Z6, Z16, Z0)             \
	next                         \
	ADDQ        $64, R8          \
	DECQ        DX               \
	JNE         unit             \
	TOTAL(Z0, X0, 0)             \
	ADDQ        $4, DI           \
	ADDQ        R14, R10         \
	MOVQ        UNITS(AX), BX    \
	SHLQ        $6, BX           \
	SUBQ        BX, R8           \
	ADDQ        R12, R8          \
	DECQ        ROWS(AX)         \
	JNE         row              \
	VZEROUPPER                   \
	RET

// func fixedFour32(d *fixes)
TEXT ·fixedFour32(SB), NOSPLIT, $0-8
	FOUR(fixed32<>+0(SB), SCALE32, NEXT32)

// func fixedFour64(d *fixes)
TEXT ·fixedFour64(SB), NOSPLIT, $0-8
	FOUR(fixed64<>+0(SB), SCALE64, NEXT64)

// func fixedFourAll(d *fixes)
TEXT ·fixedFourAll(SB), NOSPLIT, $0-8
	FOUR(fixed64<>+0(SB), SCALES, NEXTS)

// func fixedOne32(d *fixes)
TEXT ·fixedOne32(SB), NOSPLIT, $0-8
	ONE(fixed32<>+0(SB), SCALE32, NEXT32)

// func fixedOne64(d *fixes)
TEXT ·fixedOne64(SB), NOSPLIT, $0-8
	ONE(fixed64<>+0(SB), SCALE64, NEXT64)

// func fixedOneAll(d *fixes)
TEXT ·fixedOneAll(SB), NOSPLIT, $0-8
	ONE(fixed64<>+0(SB), SCALES, NEXTS)
