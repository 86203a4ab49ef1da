#include "textflag.h"

// func negatedVector(dst, a, b *fp16.Bits, n int) bool
//
// The last 8 elements overlap those before. X6 is the largest magnitudes, of which adding 0x0400 to that of infinity or a
// NaN sets the bit of the sign. Y7 has bits where b is 0 and a is not.
TEXT ·negatedVector(SB), NOSPLIT, $0-33
	MOVQ     dst+0(FP), DI
	MOVQ     a+8(FP), SI
	MOVQ     b+16(FP), DX
	MOVQ     n+24(FP), CX
	VPCMPEQW X5, X5, X5
	VPSRLW   $15, X5, X10
	VPSLLW   $10, X10, X10
	VPSRLW   $1, X5, X5
	VPXOR    X6, X6, X6
	VXORPS   Y7, Y7, Y7
	VXORPS   Y8, Y8, Y8
	VPCMPEQD Y9, Y9, Y9
	VPSLLD   $31, Y9, Y9
	MOVQ     CX, R8
	ANDQ     $7, R8
	SHRQ     $3, CX

step:
	VMOVDQU   (SI), X0
	VMOVDQU   (DX), X1
	VPAND     X0, X5, X2
	VPAND     X1, X5, X3
	VPMAXUW   X2, X6, X6
	VPMAXUW   X3, X6, X6
	VCVTPH2PS X0, Y0
	VCVTPH2PS X1, Y1
	VCMPPS    $0, Y8, Y1, Y2
	VCMPPS    $4, Y8, Y0, Y3
	VANDPS    Y2, Y3, Y3
	VORPS     Y3, Y7, Y7
	VDIVPS    Y1, Y0, Y0
	VXORPS    Y9, Y0, Y0
	VANDNPS   Y0, Y2, Y0
	VCVTPS2PH $0, Y0, X0
	VMOVDQU   X0, (DI)
	VPAND     X0, X5, X0
	VPMAXUW   X0, X6, X6
	ADDQ      $16, SI
	ADDQ      $16, DX
	ADDQ      $16, DI
	DECQ      CX
	JNZ       step
	TESTQ     R8, R8
	JZ        done
	LEAQ      -16(SI)(R8*2), SI
	LEAQ      -16(DX)(R8*2), DX
	LEAQ      -16(DI)(R8*2), DI
	XORQ      R8, R8
	MOVQ      $1, CX
	JMP       step

done:
	VPADDW    X10, X6, X6
	VPMOVMSKB X6, AX
	ANDL      $0xaaaa, AX
	VMOVMSKPS Y7, BX
	ORL       BX, AX
	SETEQ     ret+32(FP)
	VZEROUPPER
	RET
