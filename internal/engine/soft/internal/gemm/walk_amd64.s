#include "textflag.h"

// Copies of each number that the kernels need, as many as a register has.
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

#define FOUR(name, value) \
	DATA name<>+0(SB)/8, $value; \
	DATA name<>+8(SB)/8, $value; \
	DATA name<>+16(SB)/8, $value; \
	DATA name<>+24(SB)/8, $value; \
	GLOBL name<>(SB), RODATA|NOPTR, $32

EIGHT(walkExponent, 0x7f800000)
EIGHT(walkNormal, 0x38800000)
EIGHT(walkSign, 0x80000000)
EIGHT(walkHalf, 0x3f000000)
FOUR(walkMagnitude, 0x7fffffffffffffff)
FOUR(walkPast, 0x41e0000000000000)    // 2^31
FOUR(walkField, 0x7ff0000000000000)
FOUR(walkMagic, 0x4288000000000000)   // 1.5 * 2^41

#define ENTERWALK \
	MOVQ    sums+0(FP), DI         \
	MOVQ    a+8(FP), SI            \
	MOVQ    least+16(FP), BX       \
	MOVQ    b+24(FP), DX           \
	MOVQ    n+32(FP), R8           \
	MOVQ    k+40(FP), R9           \
	MOVQ    depth+48(FP), CX       \
	SHLQ    $2, R8                 \
	SHLQ    $2, R9                 \
	VMOVUPD (DI), Y0               \
	VMOVUPD 32(DI), Y1             \
	VMOVUPD 64(DI), Y2             \
	VMOVUPD 96(DI), Y3             \
	VMOVUPD walkMagnitude<>(SB), Y14 \
	VMOVUPD walkPast<>(SB), Y15

#define LEAVEWALK \
	VMOVUPD Y0, (DI)   \
	VMOVUPD Y1, 32(DI) \
	VMOVUPD Y2, 64(DI) \
	VMOVUPD Y3, 96(DI) \
	VZEROUPPER

// ROW loads a row of B into Y8, and its exponents into Y9.
#define ROW \
	VMOVUPS (DX), Y8                   \
	VPAND   walkExponent<>(SB), Y8, Y9 \
	VPMAXSD walkNormal<>(SB), Y9, Y9   \
	ADDQ    R8, DX

// PRODUCTS leaves the rounded products of one row of A in low and high, as float64. Y12 and
// Y13 are changed.
#define PRODUCTS(at, of, low, high) \
	VBROADCASTSS at, Y12                  \
	VPBROADCASTD of, Y13                  \
	VMULPS       Y8, Y12, Y12             \
	VPCMPGTD     Y13, Y9, Y13             \
	VPAND        Y13, Y12, Y12            \
	VANDPS       walkSign<>(SB), Y12, Y13 \
	VORPS        walkHalf<>(SB), Y13, Y13 \
	VADDPS       Y13, Y12, Y12            \
	VROUNDPS     $3, Y12, Y12             \
	VCVTPS2PD    X12, low                 \
	VEXTRACTF128 $1, Y12, X12             \
	VCVTPS2PD    X12, high

// COUNT adds p to sum unless that has left the range. p and t are changed.
#define COUNT(sum, p, t) \
	VANDPD Y14, sum, t     \
	VCMPPD $1, Y15, t, t   \
	VANDPD t, p, p         \
	VADDPD p, sum, sum

// JOIN adds p to g, rounded half to even to 12 significant bits of the larger one. p, Y12 and Y13 are changed.
#define JOIN(g, p) \
	VANDPD Y14, g, Y12                  \
	VANDPD Y14, p, Y13                  \
	VADDPD p, g, g                      \
	VMAXPD Y13, Y12, Y12                \
	VANDPD walkField<>(SB), Y12, Y12    \
	VMULPD walkMagic<>(SB), Y12, Y12    \
	VADDPD Y12, g, g                    \
	VSUBPD Y12, g, g

// func walkExact(sums *float64, a *float32, least *int32, b *float32, n, k, depth int)
//
// 2 rows of 8 columns: Y0 to Y3 are the sums.
TEXT ·walkExact(SB), NOSPLIT, $0-56
	ENTERWALK

step:
	ROW
	PRODUCTS((SI), (BX), Y4, Y5)
	PRODUCTS((SI)(R9*1), (BX)(R9*1), Y6, Y7)
	COUNT(Y0, Y4, Y10)
	COUNT(Y1, Y5, Y11)
	COUNT(Y2, Y6, Y12)
	COUNT(Y3, Y7, Y13)
	ADDQ $4, SI
	ADDQ $4, BX
	DECQ CX
	JNE  step
	LEAVEWALK
	RET

#define NEXT(o) \
	ROW                                          \
	PRODUCTS(o(SI), o(BX), Y10, Y11)             \
	JOIN(Y4, Y10)                                \
	JOIN(Y5, Y11)                                \
	PRODUCTS(o(SI)(R9*1), o(BX)(R9*1), Y10, Y11) \
	JOIN(Y6, Y10)                                \
	JOIN(Y7, Y11)

// func walkFours(sums *float64, a *float32, least *int32, b *float32, n, k, depth int)
//
// 2 rows of 8 columns: Y0 to Y3 are the sums, Y4 to Y7 the groups.
TEXT ·walkFours(SB), NOSPLIT, $0-56
	ENTERWALK

step:
	ROW
	PRODUCTS((SI), (BX), Y4, Y5)
	PRODUCTS((SI)(R9*1), (BX)(R9*1), Y6, Y7)
	NEXT(4)
	NEXT(8)
	NEXT(12)
	COUNT(Y0, Y4, Y10)
	COUNT(Y1, Y5, Y11)
	COUNT(Y2, Y6, Y12)
	COUNT(Y3, Y7, Y13)
	ADDQ $16, SI
	ADDQ $16, BX
	SUBQ $4, CX
	JNE  step
	LEAVEWALK
	RET
