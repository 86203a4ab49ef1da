#include "textflag.h"

// DOUBLES decodes 16 halves at SI to float64 in Z0 and Z1.
#define DOUBLES \
	VCVTPH2PS (SI), Y0   \
	VCVTPH2PS 16(SI), Y1 \
	VCVTPS2PD Y0, Z0     \
	VCVTPS2PD Y1, Z1     \
	ADDQ      $32, SI

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

// func expVector(dst *float32, sums *float64, x *fp16.Bits, blocks int, top float64, e *expConstants)
TEXT ·expVector(SB), NOSPLIT, $0-48
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

// ROUND rounds the float64s in Z0 and Z1 to halves at DI: to odd, then to nearest even. Each element of Y15 is 1.
#define ROUND \
	VCVTPD2PS.RZ_SAE Z0, Y2         \
	VCVTPD2PS.RZ_SAE Z1, Y3         \
	VCVTPS2PD        Y2, Z4         \
	VCVTPS2PD        Y3, Z5         \
	VCMPPD           $4, Z4, Z0, K1 \
	VCMPPD           $4, Z5, Z1, K2 \
	VPORD            Y15, Y2, K1, Y2 \
	VPORD            Y15, Y3, K2, Y3 \
	VCVTPS2PH        $0, Y2, (DI)   \
	VCVTPS2PH        $0, Y3, 16(DI) \
	ADDQ             $32, DI

#define ONES \
	VPCMPEQD Y15, Y15, Y15 \
	VPSRLD   $31, Y15, Y15

// func divideVector(dst *fp16.Bits, x *float32, blocks int, by, inverse float64, low, high float32)
TEXT ·divideVector(SB), NOSPLIT, $0-48
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

// func momentsVector(m *Moments, x *fp16.Bits, blocks int, from float64)
TEXT ·momentsVector(SB), NOSPLIT, $0-32
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

// margins are 2^-20 and 2^-22 as float32, more than the relative errors of a product of the distance and of the result.
DATA margins<>+0(SB)/4, $0x35800000
DATA margins<>+4(SB)/4, $0x34800000
GLOBL margins<>(SB), RODATA|NOPTR, $8

// func normalizeVector(dst, x, gamma, beta *fp16.Bits, blocks int, s *Scaled)
//
// Where both ends of the margin of error of float32 round to one half, that is the result.
TEXT ·normalizeVector(SB), NOSPLIT, $0-48
	MOVQ dst+0(FP), DI
	MOVQ x+8(FP), SI
	MOVQ gamma+16(FP), R8
	MOVQ beta+24(FP), R9
	MOVQ blocks+32(FP), CX
	MOVQ s+40(FP), AX
	VBROADCASTSD (AX), Z17
	VBROADCASTSD 8(AX), Z18
	VBROADCASTSS 16(AX), Z19
	VBROADCASTSS 20(AX), Z20
	VBROADCASTSS 24(AX), Z21
	VBROADCASTSS 28(AX), Z22
	VBROADCASTSS margins<>+0(SB), Z23
	VBROADCASTSS margins<>+4(SB), Z24
	ONES
	VPTERNLOGD   $255, Z25, Z25, Z25
	VPSRLD       $1, Z25, Z25

normalize:
	VCVTPH2PS   (SI), Z0
	VCVTPH2PS   (R8), Z1
	VCVTPH2PS   (R9), Z2
	VSUBPS      Z19, Z0, Z0
	VSUBPS      Z20, Z0, Z0
	VMULPS      Z21, Z0, Z0
	VFMADD231PS Z1, Z0, Z2   // the result
	VPANDD      Z25, Z0, Z0
	VPANDD      Z25, Z1, Z1
	VPANDD      Z25, Z2, Z3
	VFMADD213PS Z22, Z23, Z0 // |product| * 2^-20 + spread
	VMULPS      Z24, Z3, Z3
	VFMADD231PS Z1, Z0, Z3   // the error
	VSUBPS      Z3, Z2, Z4
	VADDPS      Z3, Z2, Z5
	VCMPPS      $3, Z3, Z3, K1
	VCVTPS2PH   $0, Z4, Y4
	VCVTPS2PH   $0, Z5, Y5
	VPXOR       Y4, Y5, Y5
	KORTESTW    K1, K1
	JNE         exact
	VPTEST      Y5, Y5
	JNE         exact
	VMOVDQU     Y4, (DI)
	ADDQ        $32, SI
	ADDQ        $32, DI

next:
	ADDQ $32, R8
	ADDQ $32, R9
	DECQ CX
	JNE  normalize
	VZEROUPPER
	RET

exact:
	DOUBLES
	VSUBPD      Z17, Z0, Z0
	VSUBPD      Z17, Z1, Z1
	VMULPD      Z18, Z0, Z0
	VMULPD      Z18, Z1, Z1
	VCVTPH2PS   (R8), Y6
	VCVTPH2PS   16(R8), Y7
	VCVTPH2PS   (R9), Y8
	VCVTPH2PS   16(R9), Y9
	VCVTPS2PD   Y6, Z6
	VCVTPS2PD   Y7, Z7
	VCVTPS2PD   Y8, Z8
	VCVTPS2PD   Y9, Z9
	VFMADD213PD Z8, Z6, Z0
	VFMADD213PD Z9, Z7, Z1
	ROUND
	JMP         next
