#include "go_asm.h"
#include "textflag.h"

// The quick kernels compute in float32 with AVX2.

// The parts of quickExp for 8 elements. t has 8m + j in its low bits, less 8*power, and k is that as a number. p is the
// polynomial. Later k and d are the two parts of the exponential, and t is their sum.
#define REST(from, x, t, k) \
	VCVTPH2PS    from, x        \
	VMAXPS       Y10, x, x      \
	VMOVAPS      Y11, t         \
	VFMADD231PS  Y14, x, t      \
	VSUBPS       Y11, t, k      \
	VFNMADD231PS Y15, k, x      \ // exact
	VFNMADD231PS 128(AX), k, x

#define ROOTS(d, t, k) \
	VPERMPS (AX), t, k           \
	VPERMPS 32(AX), t, d         \
	VPSLLD  $20, t, t            \
	VPADDD  t, k, k              \
	VPADDD  t, d, d

#define POLYNOMIAL(x, p) \
	VMOVUPS     192(AX), p       \
	VFMADD231PS 160(AX), x, p    \
	VFMADD213PS 224(AX), x, p    \
	VMULPS      x, p, p          \
	VFMADD213PS x, x, p

// SUM adds to Y12, which is greater, and what that loses to Y13. Its old value is in p.
#define SUM(to, d, t, k, p) \
	VFMADD231PS k, p, d          \
	VADDPS      k, d, t          \
	VMOVUPS     t, to            \
	VMOVAPS     Y12, p           \
	VADDPS      t, Y12, Y12      \
	VSUBPS      p, Y12, p        \
	VSUBPS      p, k, k          \
	VADDPS      k, d, d          \
	VADDPS      d, Y13, Y13

// func quickExp(dst *float32, x *fp16.Bits, blocks int, s *shares, c *quickConstants)
TEXT ·quickExp(SB), NOSPLIT, $0-40
	MOVQ         dst+0(FP), DI
	MOVQ         x+8(FP), SI
	MOVQ         blocks+16(FP), CX
	MOVQ         s+24(FP), DX
	MOVQ         c+32(FP), AX
	VBROADCASTSS shares_least(DX), Y10
	VBROADCASTSS shares_shift(DX), Y11
	VMOVUPS      256(AX), Y12
	VMOVUPS      64(AX), Y14
	VMOVUPS      96(AX), Y15
	VXORPS       Y13, Y13, Y13

exp:
	REST((SI), Y0, Y2, Y3)
	REST(16(SI), Y5, Y7, Y8)
	ROOTS(Y1, Y2, Y3)
	ROOTS(Y6, Y7, Y8)
	POLYNOMIAL(Y0, Y4)
	POLYNOMIAL(Y5, Y9)
	SUM((DI), Y1, Y2, Y3, Y4)
	SUM(32(DI), Y6, Y7, Y8, Y9)
	ADDQ $32, SI
	ADDQ $64, DI
	DECQ CX
	JNE  exp

	VSUBPS       256(AX), Y12, Y12
	VEXTRACTF128 $1, Y12, X0
	VEXTRACTF128 $1, Y13, X1
	VCVTPS2PD    X12, Y2
	VCVTPS2PD    X0, Y3
	VADDPS       X1, X13, X13
	VADDPD       Y3, Y2, Y2
	VCVTPS2PD    X13, Y3
	VADDPD       Y3, Y2, Y2
	VEXTRACTF128 $1, Y2, X3
	VADDPD       X3, X2, X2
	VPERMILPD    $1, X2, X3
	VADDSD       X3, X2, X2
	VMOVSD       X2, shares_total(DX)
	VMOVDDUP     X2, X2
	VMOVUPD      288(AX), X3
	VDIVPD       X2, X3, X3
	VCVTPD2PSX   X3, X3
	VMOVSD       X3, shares_ends(DX)
	VZEROUPPER
	RET

// func quickScale(dst *fp16.Bits, x *float32, blocks int, ends *[2]float32) (done int)
TEXT ·quickScale(SB), NOSPLIT, $0-40
	MOVQ         dst+0(FP), DI
	MOVQ         x+8(FP), SI
	MOVQ         blocks+16(FP), CX
	MOVQ         ends+24(FP), DX
	VBROADCASTSS (DX), Y8
	VBROADCASTSS 4(DX), Y9

scale:
	VMULPS    (SI), Y8, Y0
	VMULPS    32(SI), Y8, Y1
	VMULPS    (SI), Y9, Y2
	VMULPS    32(SI), Y9, Y3
	VCVTPS2PH $0, Y0, X0
	VCVTPS2PH $0, Y1, X1
	VCVTPS2PH $0, Y2, X2
	VCVTPS2PH $0, Y3, X3
	VPXOR     X0, X2, X2
	VPXOR     X1, X3, X3
	VPOR      X2, X3, X3
	VPTEST    X3, X3
	JNE       undecided
	VMOVDQU   X0, (DI)
	VMOVDQU   X1, 16(DI)
	ADDQ      $64, SI
	ADDQ      $32, DI
	DECQ      CX
	JNE       scale

undecided:
	MOVQ blocks+16(FP), AX
	SUBQ CX, AX
	MOVQ AX, done+32(FP)
	VZEROUPPER
	RET

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
