#include "go_asm.h"
#include "textflag.h"

// The quick kernels compute in float32 with AVX2.

// NEAR puts the ends of the margin of 8 results into low and high, rounded to halves. g, b and x are their elements.
#define NEAR(x, g, b, low, high, lowest, highest) \
	VCVTPH2PS   x, Y0                \
	VCVTPH2PS   g, Y1                \
	VCVTPH2PS   b, Y2                \
	VSUBPS      Y15, Y0, Y0          \
	VFMSUB213PS Y14, Y13, Y0         \
	VMULPS      Y1, Y0, Y3           \
	VFMADD231PS Y1, Y0, Y2           \ // the result
	VANDPS      Y9, Y3, Y3           \
	VANDPS      Y9, Y2, Y1           \
	VFMADD213PS Y12, Y11, Y3         \
	VFMADD231PS Y10, Y1, Y3          \ // the error
	VSUBPS      Y3, Y2, low          \
	VADDPS      Y3, Y2, high         \
	VCVTPS2PH   $0, low, lowest      \
	VCVTPS2PH   $0, high, highest

// func quickNormalize(dst, x, gamma, beta *fp16.Bits, byGamma, byBeta, blocks int, s *Scaled) (done int)
//
// The margin of error is that of normalize512.
TEXT ·quickNormalize(SB), NOSPLIT, $0-72
	MOVQ         dst+0(FP), DI
	MOVQ         x+8(FP), SI
	MOVQ         gamma+16(FP), R8
	MOVQ         beta+24(FP), R9
	MOVQ         byGamma+32(FP), R10
	MOVQ         byBeta+40(FP), R11
	MOVQ         blocks+48(FP), CX
	MOVQ         s+56(FP), AX
	VBROADCASTSS 16(AX), Y15
	VBROADCASTSS 20(AX), Y14
	VBROADCASTSS 24(AX), Y13
	VBROADCASTSS 28(AX), Y12
	VBROADCASTSS ofProduct<>(SB), Y11
	VBROADCASTSS ofResult<>(SB), Y10
	VPCMPEQD     Y9, Y9, Y9
	VPSRLD       $1, Y9, Y9

normalize:
	NEAR((SI), (R8), (R9), Y4, Y5, X4, X5)
	NEAR(16(SI), 16(R8), 16(R9), Y6, Y7, X6, X7)
	VPXOR   X4, X5, X5
	VPXOR   X6, X7, X7
	VPOR    X5, X7, X7
	VPTEST  X7, X7
	JNE     undecided
	VMOVDQU X4, (DI)
	VMOVDQU X6, 16(DI)
	ADDQ    $32, SI
	ADDQ    R10, R8
	ADDQ    R11, R9
	ADDQ    $32, DI
	DECQ    CX
	JNE     normalize

undecided:
	MOVQ blocks+48(FP), AX
	SUBQ CX, AX
	MOVQ AX, done+64(FP)
	VZEROUPPER
	RET

// The errors of a result in parts of the product, and of the result: 3.125*2^-24 and 2.125*2^-24.
DATA ofProduct<>+0(SB)/4, $0x34480000
GLOBL ofProduct<>(SB), RODATA|NOPTR, $4

DATA ofResult<>+0(SB)/4, $0x34080000
GLOBL ofResult<>(SB), RODATA|NOPTR, $4
