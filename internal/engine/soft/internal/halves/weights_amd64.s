#include "textflag.h"

// AT puts 4 scores at SI into y, scaled, and MASKED adds the mask at DX.
#define AT(y, t) \
	VCVTPS2PD (SI), y        \
	VMULPD    Y15, y, y      \
	ADDQ      $16, SI

#define MASKED(y, t) \
	AT(y, t)                 \
	VCVTPS2PD (DX), t        \
	VADDPD    t, y, y        \
	ADDQ      $16, DX

#define TOP(load) \
	load(Y0, Y1)             \
	VMAXPD     Y0, Y14, Y14  \
	VCMPPD     $3, Y0, Y0, Y1 \
	VORPD      Y1, Y13, Y13

// func topVector(scores, mask *float32, fours int, scale float64, top *[4]float64) (nan int)
TEXT ·topVector(SB), NOSPLIT, $0-48
	MOVQ         scores+0(FP), SI
	MOVQ         mask+8(FP), DX
	MOVQ         fours+16(FP), CX
	VBROADCASTSD scale+24(FP), Y15
	MOVQ         top+32(FP), DI
	VMOVUPD      (DI), Y14
	VXORPD       Y13, Y13, Y13
	TESTQ        DX, DX
	JNE          masked

plain:
	TOP(AT)
	DECQ CX
	JNE  plain
	JMP  done

masked:
	TOP(MASKED)
	DECQ CX
	JNE  masked

done:
	VMOVUPD   Y14, (DI)
	VMOVMSKPD Y13, AX
	MOVQ      AX, nan+40(FP)
	VZEROUPPER
	RET

// WEIGH puts the exponentials of 4 distances from Y14 to DI and adds them to Y13. Y12 gets the least of their bits that
// float32 drops, less those before the margin of the middle; Y11 all bits where a result is less than a normal float32
// and not 0.
#define WEIGH(load) \
	load(Y0, Y1)                     \
	VSUBPD       Y14, Y0, Y0         \
	VMAXPD       Y7, Y0, Y0          \
	VCMPPD       $1, Y6, Y0, Y5      \ // a result of 0
	VCMPPD       $1, 352(AX), Y0, Y4 \
	VANDNPD      Y4, Y5, Y4          \
	VORPD        Y4, Y11, Y11        \
	VMOVAPD      Y10, Y1             \
	VFMADD231PD  Y9, Y0, Y1          \
	VSUBPD       Y10, Y1, Y2         \
	VFNMADD231PD Y8, Y2, Y0          \
	VFNMADD231PD 64(AX), Y2, Y0      \
	VPSHUFD      $0xa0, Y1, Y3       \
	VPERMPS      (AX), Y3, Y2        \
	VPERMPS      32(AX), Y3, Y3      \
	VBLENDPS     $0xaa, Y3, Y2, Y2   \
	VPSLLQ       $49, Y1, Y1         \
	VPADDQ       Y1, Y2, Y2          \
	VMOVUPD      96(AX), Y3          \
	VFMADD213PD  128(AX), Y0, Y3     \
	VFMADD213PD  160(AX), Y0, Y3     \
	VFMADD213PD  192(AX), Y0, Y3     \
	VFMADD213PD  224(AX), Y0, Y3     \
	VFMADD213PD  256(AX), Y0, Y3     \
	VFMADD213PD  256(AX), Y0, Y3     \
	VMULPD       Y2, Y3, Y3          \
	VANDNPD      Y3, Y5, Y3          \
	VADDPD       Y3, Y13, Y13        \
	VPSLLQ       $35, Y3, Y1         \
	VPADDQ       288(AX), Y1, Y1     \
	VPMINUD      Y1, Y12, Y12        \
	VCVTPD2PSY   Y3, X3              \
	VMOVUPS      X3, (DI)            \
	ADDQ         $16, DI

// func weighVector(scores, mask *float32, fours int, scale, top float64, sums *[4]float64, c *weightConstants) (bad int)
TEXT ·weighVector(SB), NOSPLIT, $0-64
	MOVQ         scores+0(FP), SI
	MOVQ         mask+8(FP), DX
	MOVQ         fours+16(FP), CX
	VBROADCASTSD scale+24(FP), Y15
	VBROADCASTSD top+32(FP), Y14
	MOVQ         sums+40(FP), R8
	MOVQ         c+48(FP), AX
	MOVQ         SI, DI
	VMOVUPD      (R8), Y13
	VPCMPEQD     Y12, Y12, Y12
	VXORPD       Y11, Y11, Y11
	VMOVUPD      384(AX), Y10
	VMOVUPD      416(AX), Y9
	VMOVUPD      448(AX), Y8
	VMOVUPD      480(AX), Y7
	VMOVUPD      512(AX), Y6
	TESTQ        DX, DX
	JNE          masked

plain:
	WEIGH(AT)
	DECQ CX
	JNE  plain
	JMP  done

masked:
	WEIGH(MASKED)
	DECQ CX
	JNE  masked

done:
	VMOVUPD   Y13, (R8)
	VPSRLQ    $32, Y12, Y12
	VMOVDQU   320(AX), Y1
	VPCMPGTQ  Y12, Y1, Y1  // within the margin
	VORPD     Y1, Y11, Y11
	VMOVMSKPD Y11, AX
	MOVQ      AX, bad+56(FP)
	VZEROUPPER
	RET
