#include "textflag.h"

// Eight copies of each number that the kernels need.
#define EIGHT(name, value) \
	DATA name<>+0(SB)/4, $value; \
	DATA name<>+4(SB)/4, $value; \
	DATA name<>+8(SB)/4, $value; \
	DATA name<>+12(SB)/4, $value; \
	DATA name<>+16(SB)/4, $value; \
	DATA name<>+20(SB)/4, $value; \
	DATA name<>+24(SB)/4, $value; \
	DATA name<>+28(SB)/4, $value; \
	GLOBL name<>(SB), RODATA|NOPTR, $32

EIGHT(magnitude, 0x7fffffff)
EIGHT(half, 0x3f000000)
EIGHT(exponent, 0x7f800000)
EIGHT(normal, 0x38800000)
EIGHT(one, 1)
EIGHT(twelve, 138)
EIGHT(sixteen, 16)
EIGHT(fromFours, 0xf0000000)

// PRODUCT leaves the rounded products of one row of A in p and adds their magnitudes to size. at and of are the
// places of A's element and of its least exponent. Y8 holds the row of B, Y9 its exponents.
#define PRODUCT(size, at, of, p, t) \
	VBROADCASTSS at, p; \
	VPBROADCASTD of, t; \
	VMULPS       Y8, p, p; \
	VPCMPGTD     t, Y9, t; \
	VPAND        t, p, p; \
	VANDPS       Y12, p, t; \
	VADDPS       t, size, size; \
	VANDNPS      p, Y12, t; \
	VORPS        Y13, t, t; \
	VADDPS       t, p, p; \
	VCVTTPS2DQ   p, p

#define SPREAD(name, z) \
	VPBROADCASTD name<>(SB), z

// The sums and the sizes of 4 rows lie in eight registers. R10 is 3*R8.

#define LOAD(V0, V1, V2, V3, V4, V5, V6, V7) \
	VMOVUPS (DI), V0         \
	VMOVUPS (DI)(R8*1), V1   \
	VMOVUPS (DI)(R8*2), V2   \
	VMOVUPS (DI)(R10*1), V3  \
	VMOVUPS (R12), V4        \
	VMOVUPS (R12)(R8*1), V5  \
	VMOVUPS (R12)(R8*2), V6  \
	VMOVUPS (R12)(R10*1), V7

#define ZERO(V0, V1, V2, V3, V4, V5, V6, V7) \
	VXORPS V0, V0, V0 \
	VXORPS V1, V1, V1 \
	VXORPS V2, V2, V2 \
	VXORPS V3, V3, V3 \
	VXORPS V4, V4, V4 \
	VXORPS V5, V5, V5 \
	VXORPS V6, V6, V6 \
	VXORPS V7, V7, V7

#define STORE(V0, V1, V2, V3, V4, V5, V6, V7) \
	VMOVUPS V0, (DI)         \
	VMOVUPS V1, (DI)(R8*1)   \
	VMOVUPS V2, (DI)(R8*2)   \
	VMOVUPS V3, (DI)(R10*1)  \
	VMOVUPS V4, (R12)        \
	VMOVUPS V5, (R12)(R8*1)  \
	VMOVUPS V6, (R12)(R8*2)  \
	VMOVUPS V7, (R12)(R10*1) \
	VZEROUPPER

// ENTER sets the flags by add.
#define ENTER \
	MOVQ sums+0(FP), DI    \
	MOVQ sizes+8(FP), R12  \
	MOVQ a+16(FP), SI      \
	MOVQ least+24(FP), BX  \
	MOVQ b+32(FP), DX      \
	MOVQ n+40(FP), R8      \
	MOVQ k+48(FP), R9      \
	MOVQ depth+56(FP), CX  \
	SHLQ $2, R8            \
	SHLQ $2, R9            \
	LEAQ (R8)(R8*2), R10   \
	LEAQ (R9)(R9*2), R11   \
	CMPB add+64(FP), $0

#define ENTER512 \
	SPREAD(exponent, Z26)  \
	SPREAD(normal, Z27)    \
	SPREAD(magnitude, Z28) \
	SPREAD(half, Z29)      \
	ENTER

// func fixedTile(sums *int32, sizes, a *float32, least *int32, b *float32, n, k, depth int, add, fours, wide bool)
//
// 4 rows of 8 columns: Y0 to Y3 are the sums, Y4 to Y7 the sizes.
TEXT ·fixedTile(SB), NOSPLIT, $0-67
	CMPB    wide+66(FP), $0
	JNE     wide
	CMPB    fours+65(FP), $0
	JNE     fours
	VMOVUPS magnitude<>(SB), Y12
	VMOVUPS half<>(SB), Y13
	VMOVUPS exponent<>(SB), Y14
	VMOVUPS normal<>(SB), Y15
	ENTER
	JEQ     zero
	LOAD(Y0, Y1, Y2, Y3, Y4, Y5, Y6, Y7)
	JMP     step

wide:
	CMPB fours+65(FP), $0
	JNE  foursWide
	JMP  fixed512<>(SB)

foursWide:
	JMP fours512<>(SB)

fours:
	JMP fours256<>(SB)

zero:
	ZERO(Y0, Y1, Y2, Y3, Y4, Y5, Y6, Y7)

step:
	VMOVUPS (DX), Y8
	VPAND   Y14, Y8, Y9
	VPMAXSD Y15, Y9, Y9
	PRODUCT(Y4, (SI), (BX), Y10, Y11)
	VPADDD  Y10, Y0, Y0
	PRODUCT(Y5, (SI)(R9*1), (BX)(R9*1), Y10, Y11)
	VPADDD  Y10, Y1, Y1
	PRODUCT(Y6, (SI)(R9*2), (BX)(R9*2), Y10, Y11)
	VPADDD  Y10, Y2, Y2
	PRODUCT(Y7, (SI)(R11*1), (BX)(R11*1), Y10, Y11)
	VPADDD  Y10, Y3, Y3
	ADDQ    $4, SI
	ADDQ    $4, BX
	ADDQ    R8, DX
	DECQ    CX
	JNE     step

	STORE(Y0, Y1, Y2, Y3, Y4, Y5, Y6, Y7)
	RET

// TWELVE adds p to g, rounded half to even to 12 significant bits of the larger one if that is 2^28 or more. t, q and o
// are changed, like p.
#define TWELVE(g, p, t, q, o) \
	VPABSD    g, t; \
	VPABSD    p, q; \
	VPMAXSD   q, t, t; \
	VPSRLD    $1, t, q; \
	VPANDN    t, q, t; \
	VCVTDQ2PS t, t; \
	VPSRLD    $23, t, t; \
	VPSUBD    twelve<>(SB), t, t; \
	VPCMPGTD  sixteen<>(SB), t, q; \
	VPAND     q, t, t; \
	VPADDD    p, g, g; \
	VPSLLVD   t, Y15, q; \
	VPSUBD    Y15, q, q; \
	VPSRLVD   t, g, o; \
	VPAND     q, o, o; \
	VPAND     Y15, o, o; \
	VPSRLD    $1, q, p; \
	VPADDD    p, g, g; \
	VPADDD    o, g, g; \
	VPANDN    g, q, g

#define RIGHT \
	VMOVUPS (DX), Y8; \
	VPAND   exponent<>(SB), Y8, Y9; \
	VPMAXSD normal<>(SB), Y9, Y9; \
	ADDQ    R8, DX

#define NEXT(o) \
	RIGHT; \
	PRODUCT(Y2, o(R10), o(R11), Y6, Y7); \
	PRODUCT(Y3, o(R10)(R9*1), o(R11)(R9*1), Y10, Y11); \
	TWELVE(Y4, Y6, Y7, Y11, Y14); \
	TWELVE(Y5, Y10, Y7, Y11, Y14)

// fours256: 4 rows of 8 columns, two rows at a time: Y0 and Y1 are the sums, Y2 and Y3 the sizes, Y4 and Y5 the group.
TEXT fours256<>(SB), NOSPLIT, $0-67
	MOVQ    sums+0(FP), DI
	MOVQ    sizes+8(FP), R12
	MOVQ    a+16(FP), SI
	MOVQ    least+24(FP), BX
	MOVQ    n+40(FP), R8
	MOVQ    k+48(FP), R9
	SHLQ    $2, R8
	SHLQ    $2, R9
	VMOVUPS magnitude<>(SB), Y12
	VMOVUPS half<>(SB), Y13
	VMOVUPS one<>(SB), Y15
	MOVQ    $2, R13

rows:
	MOVQ    b+32(FP), DX
	MOVQ    depth+56(FP), CX
	MOVQ    SI, R10
	MOVQ    BX, R11
	CMPB    add+64(FP), $0
	JEQ     zero
	VMOVUPS (DI), Y0
	VMOVUPS (DI)(R8*1), Y1
	VMOVUPS (R12), Y2
	VMOVUPS (R12)(R8*1), Y3
	JMP     step

zero:
	VXORPS Y0, Y0, Y0
	VXORPS Y1, Y1, Y1
	VXORPS Y2, Y2, Y2
	VXORPS Y3, Y3, Y3

step:
	RIGHT
	PRODUCT(Y2, (R10), (R11), Y4, Y6)
	PRODUCT(Y3, (R10)(R9*1), (R11)(R9*1), Y5, Y6)
	NEXT(4)
	NEXT(8)
	NEXT(12)
	VPADDD  Y4, Y0, Y0
	VPADDD  Y5, Y1, Y1
	ADDQ    $16, R10
	ADDQ    $16, R11
	SUBQ    $4, CX
	JNE     step

	VMOVUPS Y0, (DI)
	VMOVUPS Y1, (DI)(R8*1)
	VMOVUPS Y2, (R12)
	VMOVUPS Y3, (R12)(R8*1)
	LEAQ    (DI)(R8*2), DI
	LEAQ    (R12)(R8*2), R12
	LEAQ    (SI)(R9*2), SI
	LEAQ    (BX)(R9*2), BX
	DECQ    R13
	JNE     rows
	VZEROUPPER
	RET

// PRODUCT512 is PRODUCT for 16 columns: Z24 is the row of B, Z25 its exponents.
#define PRODUCT512(size, at, of, p, t) \
	VPCMPGTD.BCST of, Z25, K1; \
	VMULPS.BCST.Z at, Z24, K1, p; \
	VPANDD        Z28, p, t; \
	VADDPS        t, size, size; \
	VMOVDQA32     p, t; \
	VPTERNLOGD    $0xBA, Z29, Z28, t; \
	VADDPS        t, p, p; \
	VCVTTPS2DQ    p, p

// TWELVE512 is TWELVE for 16 columns.
#define TWELVE512(g, p, t, q, o) \
	VPABSD     g, t; \
	VPABSD     p, q; \
	VPTERNLOGD $0xA8, Z31, q, t; \
	VPLZCNTD   t, t; \
	VPADDD     p, g, g; \
	VPADDD     Z20, t, p; \
	VPSRLVD    p, Z21, p; \
	VPSUBD     t, Z22, t; \
	VPMAXSD    Z23, t, t; \
	VPSLLVD    t, Z21, q; \
	VPSRLVD    t, g, o; \
	VPTERNLOGD $0x20, Z30, q, o; \
	VPADDD     p, g, g; \
	VPADDD     o, g, g; \
	VPANDD     q, g, g

#define RIGHT512 \
	VMOVUPS (DX), Z24; \
	VPANDD  Z26, Z24, Z25; \
	VPMAXSD Z27, Z25, Z25; \
	ADDQ    R8, DX

EIGHT(twenty, 20)
EIGHT(thirteen, 13)

// PRODUCTS512 leaves the products of a row of B with element o of 4 rows of A.
#define PRODUCTS512(o, P0, P1, P2, P3) \
	RIGHT512; \
	PRODUCT512(Z4, o(SI), o(BX), P0, Z13); \
	PRODUCT512(Z5, o(SI)(R9*1), o(BX)(R9*1), P1, Z15); \
	PRODUCT512(Z6, o(SI)(R9*2), o(BX)(R9*2), P2, Z17); \
	PRODUCT512(Z7, o(SI)(R11*1), o(BX)(R11*1), P3, Z19)

// fixed512: 4 rows of 16 columns: Z0 to Z3 are the sums, Z4 to Z7 the sizes.
TEXT fixed512<>(SB), NOSPLIT, $0-67
	ENTER512
	JEQ  zero
	LOAD(Z0, Z1, Z2, Z3, Z4, Z5, Z6, Z7)
	JMP  step

zero:
	ZERO(Z0, Z1, Z2, Z3, Z4, Z5, Z6, Z7)

step:
	PRODUCTS512(0, Z12, Z14, Z16, Z18)
	VPADDD Z12, Z0, Z0
	VPADDD Z14, Z1, Z1
	VPADDD Z16, Z2, Z2
	VPADDD Z18, Z3, Z3
	ADDQ   $4, SI
	ADDQ   $4, BX
	DECQ   CX
	JNE    step
	STORE(Z0, Z1, Z2, Z3, Z4, Z5, Z6, Z7)
	RET

#define NEXT512(o) \
	PRODUCTS512(o, Z12, Z14, Z16, Z18); \
	TWELVE512(Z8, Z12, Z13, Z24, Z25); \
	TWELVE512(Z9, Z14, Z13, Z24, Z25); \
	TWELVE512(Z10, Z16, Z13, Z24, Z25); \
	TWELVE512(Z11, Z18, Z13, Z24, Z25)

// fours512: 4 rows of 16 columns: Z0 to Z3 are the sums, Z4 to Z7 the sizes, Z8 to Z11 the groups.
TEXT fours512<>(SB), NOSPLIT, $0-67
	SPREAD(thirteen, Z20)
	VPTERNLOGD $0xFF, Z21, Z21, Z21
	SPREAD(twenty, Z22)
	VPXORD     Z23, Z23, Z23
	SPREAD(one, Z30)
	SPREAD(fromFours, Z31)
	ENTER512
	JEQ        zero
	LOAD(Z0, Z1, Z2, Z3, Z4, Z5, Z6, Z7)
	JMP        step

zero:
	ZERO(Z0, Z1, Z2, Z3, Z4, Z5, Z6, Z7)

step:
	PRODUCTS512(0, Z8, Z9, Z10, Z11)
	NEXT512(4)
	NEXT512(8)
	NEXT512(12)
	VPADDD Z8, Z0, Z0
	VPADDD Z9, Z1, Z1
	VPADDD Z10, Z2, Z2
	VPADDD Z11, Z3, Z3
	ADDQ   $16, SI
	ADDQ   $16, BX
	SUBQ   $4, CX
	JNE    step
	STORE(Z0, Z1, Z2, Z3, Z4, Z5, Z6, Z7)
	RET
