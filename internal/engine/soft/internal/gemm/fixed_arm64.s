#include "textflag.h"

// Instructions on four lanes that the assembler has no names for.
#define FMUL4(m, n, d) WORD $(0x6E20DC00 | (m)<<16 | (n)<<5 | (d))
#define FADD4(m, n, d) WORD $(0x4E20D400 | (m)<<16 | (n)<<5 | (d))
#define FABS4(n, d) WORD $(0x4EA0F800 | (n)<<5 | (d))
#define FCVTAS4(n, d) WORD $(0x4E21C800 | (n)<<5 | (d))
#define CMGT4(m, n, d) WORD $(0x4EA03400 | (m)<<16 | (n)<<5 | (d))
#define SMAX4(m, n, d) WORD $(0x4EA06400 | (m)<<16 | (n)<<5 | (d))

// ROW adds the products of a row of A, whose element and least exponent V4 and V5 repeat, to the sums in
// registers s and to the sizes in z. V0 and V1 are the row of B, V2 and V3 its exponents.
// FCVTAS rounds half away from zero.
#define HALFROW(b, e, s, z) \
	FMUL4(4, b, 6); \
	CMGT4(5, e, 7); \
	VAND V7.B16, V6.B16, V6.B16; \
	FABS4(6, 7); \
	FADD4(7, z, z); \
	FCVTAS4(6, 6); \
	VADD V6.S4, s.S4, s.S4

// func fixedTile(sums *int32, sizes, a *float32, least *int32, b *float32, n, k, depth int, add, fours, wide bool)
//
// 4 rows of 8 columns: V16 to V23 are the sums, V24 to V31 the sizes.
TEXT ·fixedTile(SB), NOSPLIT, $0-67
	MOVD  sums+0(FP), R0
	MOVD  sizes+8(FP), R1
	MOVD  a+16(FP), R2
	MOVD  least+24(FP), R6
	MOVD  b+32(FP), R10
	MOVD  n+40(FP), R14
	MOVD  k+48(FP), R15
	MOVD  depth+56(FP), R16
	MOVBU add+64(FP), R17
	LSL   $2, R14, R14
	LSL   $2, R15, R15
	ADD   R15, R2, R3
	ADD   R15, R3, R4
	ADD   R15, R4, R5
	ADD   R15, R6, R7
	ADD   R15, R7, R8
	ADD   R15, R8, R9
	ADD   R14, R0, R11
	ADD   R14, R11, R12
	ADD   R14, R12, R13
	ADD   R14, R1, R19
	ADD   R14, R19, R20
	ADD   R14, R20, R21
	MOVD  $0x7f800000, R22
	VDUP  R22, V10.S4
	MOVD  $0x38800000, R22
	VDUP  R22, V11.S4
	CBZ   R17, zero
	VLD1  (R0), [V16.S4, V17.S4]
	VLD1  (R11), [V18.S4, V19.S4]
	VLD1  (R12), [V20.S4, V21.S4]
	VLD1  (R13), [V22.S4, V23.S4]
	VLD1  (R1), [V24.S4, V25.S4]
	VLD1  (R19), [V26.S4, V27.S4]
	VLD1  (R20), [V28.S4, V29.S4]
	VLD1  (R21), [V30.S4, V31.S4]
	B     step

zero:
	VEOR V16.B16, V16.B16, V16.B16
	VEOR V17.B16, V17.B16, V17.B16
	VEOR V18.B16, V18.B16, V18.B16
	VEOR V19.B16, V19.B16, V19.B16
	VEOR V20.B16, V20.B16, V20.B16
	VEOR V21.B16, V21.B16, V21.B16
	VEOR V22.B16, V22.B16, V22.B16
	VEOR V23.B16, V23.B16, V23.B16
	VEOR V24.B16, V24.B16, V24.B16
	VEOR V25.B16, V25.B16, V25.B16
	VEOR V26.B16, V26.B16, V26.B16
	VEOR V27.B16, V27.B16, V27.B16
	VEOR V28.B16, V28.B16, V28.B16
	VEOR V29.B16, V29.B16, V29.B16
	VEOR V30.B16, V30.B16, V30.B16
	VEOR V31.B16, V31.B16, V31.B16

step:
	VLD1    (R10), [V0.S4, V1.S4]
	VAND    V10.B16, V0.B16, V2.B16
	VAND    V10.B16, V1.B16, V3.B16
	SMAX4(11, 2, 2)
	SMAX4(11, 3, 3)
	VLD1R.P 4(R2), [V4.S4]
	VLD1R.P 4(R6), [V5.S4]
	HALFROW(0, 2, V16, 24)
	HALFROW(1, 3, V17, 25)
	VLD1R.P 4(R3), [V4.S4]
	VLD1R.P 4(R7), [V5.S4]
	HALFROW(0, 2, V18, 26)
	HALFROW(1, 3, V19, 27)
	VLD1R.P 4(R4), [V4.S4]
	VLD1R.P 4(R8), [V5.S4]
	HALFROW(0, 2, V20, 28)
	HALFROW(1, 3, V21, 29)
	VLD1R.P 4(R5), [V4.S4]
	VLD1R.P 4(R9), [V5.S4]
	HALFROW(0, 2, V22, 30)
	HALFROW(1, 3, V23, 31)
	ADD     R14, R10, R10
	SUBS    $1, R16, R16
	BNE     step

	VST1 [V16.S4, V17.S4], (R0)
	VST1 [V18.S4, V19.S4], (R11)
	VST1 [V20.S4, V21.S4], (R12)
	VST1 [V22.S4, V23.S4], (R13)
	VST1 [V24.S4, V25.S4], (R1)
	VST1 [V26.S4, V27.S4], (R19)
	VST1 [V28.S4, V29.S4], (R20)
	VST1 [V30.S4, V31.S4], (R21)
	RET
