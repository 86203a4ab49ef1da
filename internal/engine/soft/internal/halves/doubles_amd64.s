#include "textflag.h"
#include "doubles_amd64.h"

// EXP sets p to the exponential of d; t and k are room.
#define EXP(d, t, k, p) \
	VSUBPD      Z17, d, d   \
	VMAXPD      Z29, d, d   \
	VMOVAPD     Z27, t      \
	VFMADD231PD Z28, d, t   \
	VSUBPD      Z27, t, k   \
	VFMADD231PD Z26, k, d   \
	VFMADD231PD Z25, k, d   \
	VMOVAPD     Z23, p      \
	VFMADD231PD Z24, d, p   \
	VFMADD213PD Z22, d, p   \
	VFMADD213PD Z21, d, p   \
	VFMADD213PD Z20, d, p   \
	VFMADD213PD Z19, d, p   \
	VFMADD213PD Z19, d, p   \
	VPERMI2PD   Z30, Z31, t \
	VMULPD      t, p, p     \
	VMULPD      Z18, k, k   \
	VSCALEFPD   k, p, p

// func exp512(dst *float32, sums *float64, x *fp16.Bits, blocks int, top float64, e *expConstants)
TEXT ·exp512(SB), NOSPLIT, $0-48
	MOVQ dst+0(FP), DI
	MOVQ sums+8(FP), DX
	MOVQ x+16(FP), SI
	MOVQ blocks+24(FP), CX
	VBROADCASTSD top+32(FP), Z17
	MOVQ e+40(FP), AX
	VMOVUPD (AX), Z31
	VMOVUPD 64(AX), Z30
	VBROADCASTSD 128(AX), Z29
	VBROADCASTSD 136(AX), Z28
	VBROADCASTSD 144(AX), Z27
	VBROADCASTSD 152(AX), Z26
	VBROADCASTSD 160(AX), Z25
	VBROADCASTSD 168(AX), Z24
	VBROADCASTSD 176(AX), Z23
	VBROADCASTSD 184(AX), Z22
	VBROADCASTSD 192(AX), Z21
	VBROADCASTSD 200(AX), Z20
	VBROADCASTSD 208(AX), Z19
	VBROADCASTSD 216(AX), Z18
	VMOVUPD (DX), Z14
	VMOVUPD 64(DX), Z15

exp:
	DOUBLES
	EXP(Z0, Z2, Z4, Z6)
	EXP(Z1, Z3, Z5, Z7)
	VADDPD    Z6, Z14, Z14
	VADDPD    Z7, Z15, Z15
	VCVTPD2PS Z6, Y6
	VCVTPD2PS Z7, Y7
	VMOVUPS   Y6, (DI)
	VMOVUPS   Y7, 32(DI)
	ADDQ      $64, DI
	DECQ      CX
	JNE       exp

	VMOVUPD Z14, (DX)
	VMOVUPD Z15, 64(DX)
	VZEROUPPER
	RET

// func divide512(dst *fp16.Bits, x *float32, blocks int, by, inverse float64, low, high float32)
TEXT ·divide512(SB), NOSPLIT, $0-48
	MOVQ dst+0(FP), DI
	MOVQ x+8(FP), SI
	MOVQ blocks+16(FP), CX
	VBROADCASTSD by+24(FP), Z17
	VBROADCASTSD inverse+32(FP), Z18
	VBROADCASTSS low+40(FP), Z19
	VBROADCASTSS high+44(FP), Z20
	ONES

divide:
	VMOVUPS   (SI), Z0
	VMULPS    Z19, Z0, Z1
	VMULPS    Z20, Z0, Z2
	VCVTPS2PH $0, Z1, Y1
	VCVTPS2PH $0, Z2, Y2
	VPXOR     Y1, Y2, Y2
	VPTEST    Y2, Y2
	JNE       exact
	VMOVDQU   Y1, (DI)
	ADDQ      $32, DI

next:
	ADDQ $64, SI
	DECQ CX
	JNE  divide
	VZEROUPPER
	RET

exact:
	VCVTPS2PD    (SI), Z6
	VCVTPS2PD    32(SI), Z7
	VMULPD       Z18, Z6, Z0
	VMULPD       Z18, Z7, Z1
	VFNMADD231PD Z17, Z0, Z6  // what the quotient leaves
	VFNMADD231PD Z17, Z1, Z7
	VFMADD231PD  Z18, Z6, Z0
	VFMADD231PD  Z18, Z7, Z1
	ROUND
	JMP          next

// func moments512(m *Moments, x *fp16.Bits, blocks int, from float64)
TEXT ·moments512(SB), NOSPLIT, $0-32
	MOVQ    m+0(FP), DI
	MOVQ    x+8(FP), SI
	MOVQ    blocks+16(FP), CX
	VBROADCASTSD from+24(FP), Z17
	VMOVUPD (DI), Z12
	VMOVUPD 64(DI), Z13
	VMOVUPD 128(DI), Z14
	VMOVUPD 192(DI), Z15

moments:
	DOUBLES
	VSUBPD      Z17, Z0, Z0
	VSUBPD      Z17, Z1, Z1
	VADDPD      Z0, Z12, Z12
	VADDPD      Z1, Z13, Z13
	VFMADD231PD Z0, Z0, Z14
	VFMADD231PD Z1, Z1, Z15
	DECQ        CX
	JNE         moments

	VMOVUPD Z12, (DI)
	VMOVUPD Z13, 64(DI)
	VMOVUPD Z14, 128(DI)
	VMOVUPD Z15, 192(DI)
	VZEROUPPER
	RET
