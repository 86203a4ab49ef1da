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

// func fixed256(sums *int32, sizes, a *float32, least *int32, b *float32, n, k, depth int, add bool)
//
// 4 rows of 8 columns: Y0 to Y3 are the sums, Y4 to Y7 the sizes.
TEXT ·fixed256(SB), NOSPLIT, $0-65
	MOVQ    sums+0(FP), DI
	MOVQ    sizes+8(FP), R12
	MOVQ    a+16(FP), SI
	MOVQ    least+24(FP), BX
	MOVQ    b+32(FP), DX
	MOVQ    n+40(FP), R8
	MOVQ    k+48(FP), R9
	MOVQ    depth+56(FP), CX
	SHLQ    $2, R8
	SHLQ    $2, R9
	LEAQ    (R8)(R8*2), R10
	LEAQ    (R9)(R9*2), R11
	VMOVUPS magnitude<>(SB), Y12
	VMOVUPS half<>(SB), Y13
	VMOVUPS exponent<>(SB), Y14
	VMOVUPS normal<>(SB), Y15
	CMPB    add+64(FP), $0
	JEQ     zero
	VMOVUPS (DI), Y0
	VMOVUPS (DI)(R8*1), Y1
	VMOVUPS (DI)(R8*2), Y2
	VMOVUPS (DI)(R10*1), Y3
	VMOVUPS (R12), Y4
	VMOVUPS (R12)(R8*1), Y5
	VMOVUPS (R12)(R8*2), Y6
	VMOVUPS (R12)(R10*1), Y7
	JMP     step

zero:
	VXORPS Y0, Y0, Y0
	VXORPS Y1, Y1, Y1
	VXORPS Y2, Y2, Y2
	VXORPS Y3, Y3, Y3
	VXORPS Y4, Y4, Y4
	VXORPS Y5, Y5, Y5
	VXORPS Y6, Y6, Y6
	VXORPS Y7, Y7, Y7

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

	VMOVUPS    Y0, (DI)
	VMOVUPS    Y1, (DI)(R8*1)
	VMOVUPS    Y2, (DI)(R8*2)
	VMOVUPS    Y3, (DI)(R10*1)
	VMOVUPS    Y4, (R12)
	VMOVUPS    Y5, (R12)(R8*1)
	VMOVUPS    Y6, (R12)(R8*2)
	VMOVUPS    Y7, (R12)(R10*1)
	VZEROUPPER
	RET

// TWELVE adds p to g, rounded half to even to 12 significant bits of the larger one. t, q and o are changed,
// like p.
#define TWELVE(g, p, t, q, o) \
	VPABSD    g, t; \
	VPABSD    p, q; \
	VPMAXSD   q, t, t; \
	VPSRLD    $1, t, q; \
	VPANDN    t, q, t; \
	VCVTDQ2PS t, t; \
	VPSRLD    $23, t, t; \
	VPSUBD    twelve<>(SB), t, t; \
	VPXOR     q, q, q; \
	VPMAXSD   q, t, t; \
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

#define RIGHT() \
	VMOVUPS (DX), Y8; \
	VPAND   exponent<>(SB), Y8, Y9; \
	VPMAXSD normal<>(SB), Y9, Y9; \
	ADDQ    R8, DX

// func fours256(sums *int32, sizes, a *float32, least *int32, b *float32, n, k, depth int, add bool)
//
// 4 rows of 8 columns, two rows at a time: Y0 and Y1 are the sums, Y2 and Y3 the sizes, Y4 and Y5 the group.
TEXT ·fours256(SB), NOSPLIT, $0-65
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
	RIGHT()
	PRODUCT(Y2, (R10), (R11), Y4, Y6)
	PRODUCT(Y3, (R10)(R9*1), (R11)(R9*1), Y5, Y6)
	RIGHT()
	PRODUCT(Y2, 4(R10), 4(R11), Y6, Y7)
	PRODUCT(Y3, 4(R10)(R9*1), 4(R11)(R9*1), Y10, Y11)
	TWELVE(Y4, Y6, Y7, Y11, Y14)
	TWELVE(Y5, Y10, Y7, Y11, Y14)
	RIGHT()
	PRODUCT(Y2, 8(R10), 8(R11), Y6, Y7)
	PRODUCT(Y3, 8(R10)(R9*1), 8(R11)(R9*1), Y10, Y11)
	TWELVE(Y4, Y6, Y7, Y11, Y14)
	TWELVE(Y5, Y10, Y7, Y11, Y14)
	RIGHT()
	PRODUCT(Y2, 12(R10), 12(R11), Y6, Y7)
	PRODUCT(Y3, 12(R10)(R9*1), 12(R11)(R9*1), Y10, Y11)
	TWELVE(Y4, Y6, Y7, Y11, Y14)
	TWELVE(Y5, Y10, Y7, Y11, Y14)
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
	VPORD      q, t, t; \
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

#define RIGHT512() \
	VMOVUPS (DX), Z24; \
	VPANDD  Z26, Z24, Z25; \
	VPMAXSD Z27, Z25, Z25; \
	ADDQ    R8, DX

#define SPREAD(name, z) \
	VPBROADCASTD name<>(SB), z

EIGHT(twenty, 20)
EIGHT(thirteen, 13)

#define ENTER512() \
	MOVQ sums+0(FP), DI; \
	MOVQ sizes+8(FP), R12; \
	MOVQ a+16(FP), SI; \
	MOVQ least+24(FP), BX; \
	MOVQ b+32(FP), DX; \
	MOVQ n+40(FP), R8; \
	MOVQ k+48(FP), R9; \
	MOVQ depth+56(FP), CX; \
	SHLQ $2, R8; \
	SHLQ $2, R9; \
	LEAQ (R8)(R8*2), R10; \
	LEAQ (R9)(R9*2), R11; \
	SPREAD(exponent, Z26); \
	SPREAD(normal, Z27); \
	SPREAD(magnitude, Z28); \
	SPREAD(half, Z29)

#define LOAD512() \
	VMOVUPS (DI), Z0; \
	VMOVUPS (DI)(R8*1), Z1; \
	VMOVUPS (DI)(R8*2), Z2; \
	VMOVUPS (DI)(R10*1), Z3; \
	VMOVUPS (R12), Z4; \
	VMOVUPS (R12)(R8*1), Z5; \
	VMOVUPS (R12)(R8*2), Z6; \
	VMOVUPS (R12)(R10*1), Z7

#define ZERO512() \
	VPXORD Z0, Z0, Z0; \
	VPXORD Z1, Z1, Z1; \
	VPXORD Z2, Z2, Z2; \
	VPXORD Z3, Z3, Z3; \
	VPXORD Z4, Z4, Z4; \
	VPXORD Z5, Z5, Z5; \
	VPXORD Z6, Z6, Z6; \
	VPXORD Z7, Z7, Z7

#define STORE512() \
	VMOVUPS    Z0, (DI); \
	VMOVUPS    Z1, (DI)(R8*1); \
	VMOVUPS    Z2, (DI)(R8*2); \
	VMOVUPS    Z3, (DI)(R10*1); \
	VMOVUPS    Z4, (R12); \
	VMOVUPS    Z5, (R12)(R8*1); \
	VMOVUPS    Z6, (R12)(R8*2); \
	VMOVUPS    Z7, (R12)(R10*1); \
	VZEROUPPER

// func fixed512(sums *int32, sizes, a *float32, least *int32, b *float32, n, k, depth int, add bool)
//
// 4 rows of 16 columns: Z0 to Z3 are the sums, Z4 to Z7 the sizes.
TEXT ·fixed512(SB), NOSPLIT, $0-65
	ENTER512()
	CMPB add+64(FP), $0
	JEQ  zero
	LOAD512()
	JMP  step

zero:
	ZERO512()

step:
	RIGHT512()
	PRODUCT512(Z4, (SI), (BX), Z12, Z13)
	PRODUCT512(Z5, (SI)(R9*1), (BX)(R9*1), Z14, Z15)
	PRODUCT512(Z6, (SI)(R9*2), (BX)(R9*2), Z16, Z17)
	PRODUCT512(Z7, (SI)(R11*1), (BX)(R11*1), Z18, Z19)
	VPADDD Z12, Z0, Z0
	VPADDD Z14, Z1, Z1
	VPADDD Z16, Z2, Z2
	VPADDD Z18, Z3, Z3
	ADDQ   $4, SI
	ADDQ   $4, BX
	DECQ   CX
	JNE    step
	STORE512()
	RET

#define NEXT512(o) \
	RIGHT512(); \
	PRODUCT512(Z4, o(SI), o(BX), Z12, Z13); \
	PRODUCT512(Z5, o(SI)(R9*1), o(BX)(R9*1), Z14, Z15); \
	PRODUCT512(Z6, o(SI)(R9*2), o(BX)(R9*2), Z16, Z17); \
	PRODUCT512(Z7, o(SI)(R11*1), o(BX)(R11*1), Z18, Z19); \
	TWELVE512(Z8, Z12, Z13, Z24, Z25); \
	TWELVE512(Z9, Z14, Z13, Z24, Z25); \
	TWELVE512(Z10, Z16, Z13, Z24, Z25); \
	TWELVE512(Z11, Z18, Z13, Z24, Z25)

// func fours512(sums *int32, sizes, a *float32, least *int32, b *float32, n, k, depth int, add bool)
//
// 4 rows of 16 columns: Z0 to Z3 are the sums, Z4 to Z7 the sizes, Z8 to Z11 the groups.
TEXT ·fours512(SB), NOSPLIT, $0-65
	ENTER512()
	SPREAD(thirteen, Z20)
	VPTERNLOGD $0xFF, Z21, Z21, Z21
	SPREAD(twenty, Z22)
	VPXORD     Z23, Z23, Z23
	SPREAD(one, Z30)
	CMPB       add+64(FP), $0
	JEQ        zero
	LOAD512()
	JMP        step

zero:
	ZERO512()

step:
	RIGHT512()
	PRODUCT512(Z4, (SI), (BX), Z8, Z13)
	PRODUCT512(Z5, (SI)(R9*1), (BX)(R9*1), Z9, Z15)
	PRODUCT512(Z6, (SI)(R9*2), (BX)(R9*2), Z10, Z17)
	PRODUCT512(Z7, (SI)(R11*1), (BX)(R11*1), Z11, Z19)
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
	STORE512()
	RET
