#include "textflag.h"

// Each function converts 32 elements at a time, then 8, then the last 8 again
// if fewer remain. CX is the number of remaining elements minus one step. The
// immediate 0 of VCVTPS2PH is round to nearest even, for any MXCSR.
//
// Non-temporal stores and 512-bit registers were measured on Sapphire Rapids with
// 4 Ki to 16 Mi elements: the former gain nothing for large sizes and cost up to
// eight times for small ones, the latter gain where all fits the first-level
// cache and little elsewhere. Neither is worth another kernel.

// func encodeVector(dst *Bits, src *float32, n int)
TEXT ·encodeVector(SB), NOSPLIT, $0-24
	MOVQ dst+0(FP), DI
	MOVQ src+8(FP), SI
	MOVQ n+16(FP), CX
	SUBQ $32, CX
	JLT  rest

wide:
	VMOVUPS   (SI), Y0
	VMOVUPS   32(SI), Y1
	VMOVUPS   64(SI), Y2
	VMOVUPS   96(SI), Y3
	VCVTPS2PH $0, Y0, (DI)
	VCVTPS2PH $0, Y1, 16(DI)
	VCVTPS2PH $0, Y2, 32(DI)
	VCVTPS2PH $0, Y3, 48(DI)
	ADDQ      $128, SI
	ADDQ      $64, DI
	SUBQ      $32, CX
	JGE       wide

rest:
	ADDQ $24, CX
	JLT  last

step:
	VMOVUPS   (SI), Y0
	VCVTPS2PH $0, Y0, (DI)
	ADDQ      $32, SI
	ADDQ      $16, DI
	SUBQ      $8, CX
	JGE       step

last:
	CMPQ      CX, $-8
	JEQ       done
	VMOVUPS   (SI)(CX*4), Y0
	VCVTPS2PH $0, Y0, (DI)(CX*2)

done:
	VZEROUPPER
	RET

// func decodeVector(dst *float32, src *Bits, n int)
TEXT ·decodeVector(SB), NOSPLIT, $0-24
	MOVQ dst+0(FP), DI
	MOVQ src+8(FP), SI
	MOVQ n+16(FP), CX
	SUBQ $32, CX
	JLT  rest

wide:
	VCVTPH2PS (SI), Y0
	VCVTPH2PS 16(SI), Y1
	VCVTPH2PS 32(SI), Y2
	VCVTPH2PS 48(SI), Y3
	VMOVUPS   Y0, (DI)
	VMOVUPS   Y1, 32(DI)
	VMOVUPS   Y2, 64(DI)
	VMOVUPS   Y3, 96(DI)
	ADDQ      $64, SI
	ADDQ      $128, DI
	SUBQ      $32, CX
	JGE       wide

rest:
	ADDQ $24, CX
	JLT  last

step:
	VCVTPH2PS (SI), Y0
	VMOVUPS   Y0, (DI)
	ADDQ      $16, SI
	ADDQ      $32, DI
	SUBQ      $8, CX
	JGE       step

last:
	CMPQ      CX, $-8
	JEQ       done
	VCVTPH2PS (SI)(CX*2), Y0
	VMOVUPS   Y0, (DI)(CX*4)

done:
	VZEROUPPER
	RET

// func roundVector(dst, src *float32, n int)
//
// In place, the last step rounds some elements again, which does not change
// them.
TEXT ·roundVector(SB), NOSPLIT, $0-24
	MOVQ dst+0(FP), DI
	MOVQ src+8(FP), SI
	MOVQ n+16(FP), CX
	SUBQ $32, CX
	JLT  rest

wide:
	VMOVUPS   (SI), Y0
	VMOVUPS   32(SI), Y1
	VMOVUPS   64(SI), Y2
	VMOVUPS   96(SI), Y3
	VCVTPS2PH $0, Y0, X0
	VCVTPS2PH $0, Y1, X1
	VCVTPS2PH $0, Y2, X2
	VCVTPS2PH $0, Y3, X3
	VCVTPH2PS X0, Y0
	VCVTPH2PS X1, Y1
	VCVTPH2PS X2, Y2
	VCVTPH2PS X3, Y3
	VMOVUPS   Y0, (DI)
	VMOVUPS   Y1, 32(DI)
	VMOVUPS   Y2, 64(DI)
	VMOVUPS   Y3, 96(DI)
	ADDQ      $128, SI
	ADDQ      $128, DI
	SUBQ      $32, CX
	JGE       wide

rest:
	ADDQ $24, CX
	JLT  last

step:
	VMOVUPS   (SI), Y0
	VCVTPS2PH $0, Y0, X0
	VCVTPH2PS X0, Y0
	VMOVUPS   Y0, (DI)
	ADDQ      $32, SI
	ADDQ      $32, DI
	SUBQ      $8, CX
	JGE       step

last:
	CMPQ      CX, $-8
	JEQ       done
	VMOVUPS   (SI)(CX*4), Y0
	VCVTPS2PH $0, Y0, X0
	VCVTPH2PS X0, Y0
	VMOVUPS   Y0, (DI)(CX*4)

done:
	VZEROUPPER
	RET

// func brainVector(dst *Bits, src *Brain, n int) bool
//
// A bfloat16 is the upper half of a float32. Y6 and Y7 are the largest magnitudes. Adding 0x3880 to one of 65536 or
// more, which no half holds, sets the bit of the sign. It needs AVX2.
TEXT ·brainVector(SB), NOSPLIT, $0-25
	MOVQ     dst+0(FP), DI
	MOVQ     src+8(FP), SI
	MOVQ     n+16(FP), CX
	VPCMPEQW Y5, Y5, Y5
	VPSRLW   $1, Y5, Y5
	VPXOR    Y6, Y6, Y6
	VPXOR    Y7, Y7, Y7
	SUBQ     $32, CX
	JLT      rest

wide:
	VPMOVZXWD (SI), Y0
	VPMOVZXWD 16(SI), Y1
	VPMOVZXWD 32(SI), Y2
	VPMOVZXWD 48(SI), Y3
	VPAND     (SI), Y5, Y4
	VPMAXUW   Y4, Y6, Y6
	VPAND     32(SI), Y5, Y4
	VPMAXUW   Y4, Y7, Y7
	VPSLLD    $16, Y0, Y0
	VPSLLD    $16, Y1, Y1
	VPSLLD    $16, Y2, Y2
	VPSLLD    $16, Y3, Y3
	VCVTPS2PH $0, Y0, (DI)
	VCVTPS2PH $0, Y1, 16(DI)
	VCVTPS2PH $0, Y2, 32(DI)
	VCVTPS2PH $0, Y3, 48(DI)
	ADDQ      $64, SI
	ADDQ      $64, DI
	SUBQ      $32, CX
	JGE       wide

rest:
	ADDQ $24, CX
	JLT  last

step:
	VPMOVZXWD (SI), Y0
	VPAND     Y0, Y5, Y4
	VPMAXUW   Y4, Y6, Y6
	VPSLLD    $16, Y0, Y0
	VCVTPS2PH $0, Y0, (DI)
	ADDQ      $16, SI
	ADDQ      $16, DI
	SUBQ      $8, CX
	JGE       step

last:
	CMPQ      CX, $-8
	JEQ       done
	VPMOVZXWD (SI)(CX*2), Y0
	VPAND     Y0, Y5, Y4
	VPMAXUW   Y4, Y7, Y7
	VPSLLD    $16, Y0, Y0
	VCVTPS2PH $0, Y0, (DI)(CX*2)

done:
	MOVL         $0x38803880, AX
	VMOVD        AX, X4
	VPBROADCASTD X4, Y4
	VPMAXUW      Y7, Y6, Y6
	VPADDW       Y4, Y6, Y6
	VPMOVMSKB    Y6, AX
	TESTL        $0xaaaaaaaa, AX
	SETEQ        ret+24(FP)
	VZEROUPPER
	RET

// func encodeFiniteVector(dst *Bits, src *float32, n int) bool
//
// n is a multiple of 32 above 0. Y6 and Y7 are the largest magnitudes. Adding 0x38801000 to one of 65520 or more, which
// becomes infinite, sets the bit of the sign. It needs AVX2.
TEXT ·encodeFiniteVector(SB), NOSPLIT, $0-25
	MOVQ     dst+0(FP), DI
	MOVQ     src+8(FP), SI
	MOVQ     n+16(FP), CX
	VPCMPEQW Y5, Y5, Y5
	VPSRLD   $1, Y5, Y5
	VPXOR    Y6, Y6, Y6
	VPXOR    Y7, Y7, Y7

step:
	VMOVUPS   (SI), Y0
	VMOVUPS   32(SI), Y1
	VMOVUPS   64(SI), Y2
	VMOVUPS   96(SI), Y3
	VCVTPS2PH $0, Y0, (DI)
	VCVTPS2PH $0, Y1, 16(DI)
	VCVTPS2PH $0, Y2, 32(DI)
	VCVTPS2PH $0, Y3, 48(DI)
	VPAND     Y5, Y0, Y0
	VPAND     Y5, Y1, Y1
	VPAND     Y5, Y2, Y2
	VPAND     Y5, Y3, Y3
	VPMAXUD   Y0, Y6, Y6
	VPMAXUD   Y1, Y7, Y7
	VPMAXUD   Y2, Y6, Y6
	VPMAXUD   Y3, Y7, Y7
	ADDQ      $128, SI
	ADDQ      $64, DI
	SUBQ      $32, CX
	JNE       step

	MOVL         $0x38801000, AX
	VMOVD        AX, X4
	VPBROADCASTD X4, Y4
	VPMAXUD      Y7, Y6, Y6
	VPADDD       Y4, Y6, Y6
	VMOVMSKPS    Y6, AX
	TESTL        AX, AX
	SETEQ        ret+24(FP)
	VZEROUPPER
	RET

// func finiteVector(src *Bits, n int) bool
//
// n is a multiple of 32 above 0. Y2 and Y3 are the largest magnitudes. Adding 0x0400 to that of infinity or a NaN sets
// the bit of the sign. It needs AVX2.
TEXT ·finiteVector(SB), NOSPLIT, $0-17
	MOVQ     src+0(FP), SI
	MOVQ     n+8(FP), CX
	VPCMPEQW Y4, Y4, Y4
	VPSRLW   $15, Y4, Y5
	VPSLLW   $10, Y5, Y5
	VPSRLW   $1, Y4, Y4
	VPXOR    Y2, Y2, Y2
	VPXOR    Y3, Y3, Y3

step:
	VPAND   (SI), Y4, Y0
	VPAND   32(SI), Y4, Y1
	VPMAXUW Y0, Y2, Y2
	VPMAXUW Y1, Y3, Y3
	ADDQ    $64, SI
	SUBQ    $32, CX
	JNE     step

	VPMAXUW   Y3, Y2, Y2
	VPADDW    Y5, Y2, Y2
	VPMOVMSKB Y2, AX
	TESTL     $0xaaaaaaaa, AX
	SETEQ     ret+16(FP)
	VZEROUPPER
	RET
