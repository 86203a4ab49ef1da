#include "go_asm.h"
#include "textflag.h"
#include "doubles_amd64.h"

// The AVX2 forms have 16 elements in four registers.

// WIDEN decodes 16 halves at p to float64 in Y0 to Y3.
#define WIDEN(p) \
	VCVTPH2PS (p), X0   \
	VCVTPH2PS 8(p), X1  \
	VCVTPH2PS 16(p), X2 \
	VCVTPH2PS 24(p), X3 \
	VCVTPS2PD X0, Y0    \
	VCVTPS2PD X1, Y1    \
	VCVTPS2PD X2, Y2    \
	VCVTPS2PD X3, Y3

// func momentsVector(m *Moments, x *fp16.Bits, blocks int, from float64)
TEXT ·momentsVector(SB), NOSPLIT, $0-32
	CMPQ ·machine(SB), $const_avx512
	JEQ  wide
	MOVQ         m+0(FP), DI
	MOVQ         x+8(FP), SI
	MOVQ         blocks+16(FP), CX
	VBROADCASTSD from+24(FP), Y4
	VMOVUPD      (DI), Y8
	VMOVUPD      32(DI), Y9
	VMOVUPD      64(DI), Y10
	VMOVUPD      96(DI), Y11
	VMOVUPD      128(DI), Y12
	VMOVUPD      160(DI), Y13
	VMOVUPD      192(DI), Y14
	VMOVUPD      224(DI), Y15

moments:
	WIDEN(SI)
	VSUBPD      Y4, Y0, Y0
	VSUBPD      Y4, Y1, Y1
	VSUBPD      Y4, Y2, Y2
	VSUBPD      Y4, Y3, Y3
	VADDPD      Y0, Y8, Y8
	VADDPD      Y1, Y9, Y9
	VADDPD      Y2, Y10, Y10
	VADDPD      Y3, Y11, Y11
	VFMADD231PD Y0, Y0, Y12
	VFMADD231PD Y1, Y1, Y13
	VFMADD231PD Y2, Y2, Y14
	VFMADD231PD Y3, Y3, Y15
	ADDQ        $32, SI
	DECQ        CX
	JNE         moments

	VMOVUPD Y8, (DI)
	VMOVUPD Y9, 32(DI)
	VMOVUPD Y10, 64(DI)
	VMOVUPD Y11, 96(DI)
	VMOVUPD Y12, 128(DI)
	VMOVUPD Y13, 160(DI)
	VMOVUPD Y14, 192(DI)
	VMOVUPD Y15, 224(DI)
	VZEROUPPER
	RET

wide:
	JMP moments512<>(SB)

// NARROW rounds the 4 float64s in y to odd float32s in x, whose half is that of the float64: it takes one unit from the
// nearest float32 where its magnitude is greater, and sets the last bit where it is another number. Y15 is the sign bit
// of float64, X14 is 1 in each float32. Y10 to Y13 are changed.
#define NARROW(y, x) \
	VCVTPD2PSY y, x                \
	VCVTPS2PD  x, Y10              \
	VANDNPD    Y10, Y15, Y11       \
	VANDNPD    y, Y15, Y12         \
	VCMPPD     $30, Y12, Y11, Y11  \
	VCMPPD     $4, y, Y10, Y10     \
	VEXTRACTF128 $1, Y11, X12      \
	VSHUFPS    $0x88, X12, X11, X11 \
	VEXTRACTF128 $1, Y10, X13      \
	VSHUFPS    $0x88, X13, X10, X10 \
	VPADDD     X11, x, x           \
	VPAND      X14, X10, X10       \
	VPOR       X10, x, x

DATA oddSign<>+0(SB)/8, $0x8000000000000000
GLOBL oddSign<>(SB), RODATA|NOPTR, $8

DATA oddOne<>+0(SB)/4, $1
GLOBL oddOne<>(SB), RODATA|NOPTR, $4

// func normalizeVector(dst, x, gamma, beta *fp16.Bits, byGamma, byBeta, blocks int, s *Scaled)
//
// It computes in float64, four elements at a time.
TEXT ·normalizeVector(SB), NOSPLIT, $0-64
	MOVQ dst+0(FP), DI
	MOVQ x+8(FP), SI
	MOVQ gamma+16(FP), R8
	MOVQ beta+24(FP), R9
	MOVQ byGamma+32(FP), R10
	MOVQ byBeta+40(FP), R11
	MOVQ blocks+48(FP), CX
	MOVQ s+56(FP), AX
	SHLQ $2, CX
	VBROADCASTSD (AX), Y8
	VBROADCASTSD 8(AX), Y9
	VBROADCASTSD oddSign<>(SB), Y15
	VPBROADCASTD oddOne<>(SB), X14

normalize:
	VCVTPH2PS   (SI), X0
	VCVTPH2PS   (R8), X1
	VCVTPH2PS   (R9), X2
	VCVTPS2PD   X0, Y0
	VCVTPS2PD   X1, Y1
	VCVTPS2PD   X2, Y2
	VSUBPD      Y8, Y0, Y0
	VMULPD      Y9, Y0, Y0
	VFMADD213PD Y2, Y1, Y0
	NARROW(Y0, X3)
	VCVTPS2PH   $0, X3, (DI)
	ADDQ        $8, SI
	ADDQ        R10, R8
	ADDQ        R11, R9
	ADDQ        $8, DI
	DECQ        CX
	JNE         normalize
	VZEROUPPER
	RET

// func divideVector(dst *fp16.Bits, x *float32, blocks int, by, inverse float64, low, high float32)
TEXT ·divideVector(SB), NOSPLIT, $0-48
	CMPQ ·machine(SB), $const_avx512
	JEQ  wide
	MOVQ dst+0(FP), DI
	MOVQ x+8(FP), SI
	MOVQ blocks+16(FP), CX
	VBROADCASTSD by+24(FP), Y8
	VBROADCASTSD inverse+32(FP), Y9
	SHLQ $2, CX
	VBROADCASTSD oddSign<>(SB), Y15
	VPBROADCASTD oddOne<>(SB), X14

divide:
	VCVTPS2PD    (SI), Y1
	VMULPD       Y9, Y1, Y0
	VFNMADD231PD Y8, Y0, Y1 // what the quotient leaves
	VFMADD231PD  Y9, Y1, Y0
	NARROW(Y0, X3)
	VCVTPS2PH    $0, X3, (DI)
	ADDQ         $16, SI
	ADDQ         $8, DI
	DECQ         CX
	JNE          divide
	VZEROUPPER
	RET

wide:
	JMP divide512<>(SB)

// func expVector(dst *float32, sums *float64, x *fp16.Bits, blocks int, top float64, e *expConstants)
//
// Four elements at a time: the sums stay in memory.
TEXT ·expVector(SB), NOSPLIT, $0-48
	CMPQ ·machine(SB), $const_avx512
	JEQ  wide
	MOVQ dst+0(FP), DI
	MOVQ x+16(FP), SI
	MOVQ blocks+24(FP), CX
	VBROADCASTSD top+32(FP), Y15
	MOVQ e+40(FP), AX
	VBROADCASTSD 128(AX), Y14
	VBROADCASTSD 136(AX), Y13
	VBROADCASTSD 144(AX), Y12
	VBROADCASTSD 152(AX), Y11
	VBROADCASTSD 160(AX), Y10
	VBROADCASTSD 208(AX), Y9

block:
	MOVQ sums+8(FP), DX
	MOVQ $4, R8

exp:
	VCVTPH2PS    (SI), X0
	VCVTPS2PD    X0, Y0
	VSUBPD       Y15, Y0, Y0
	VMAXPD       Y14, Y0, Y0
	VMOVAPD      Y12, Y1
	VFMADD231PD  Y13, Y0, Y1  // the integer in its low bits
	VSUBPD       Y12, Y1, Y2
	VFMADD231PD  Y11, Y2, Y0
	VFMADD231PD  Y10, Y2, Y0
	VBROADCASTSD 168(AX), Y4
	VBROADCASTSD 176(AX), Y3
	VFMADD231PD  Y4, Y0, Y3
	VBROADCASTSD 184(AX), Y4
	VFMADD213PD  Y4, Y0, Y3
	VBROADCASTSD 192(AX), Y4
	VFMADD213PD  Y4, Y0, Y3
	VBROADCASTSD 200(AX), Y4
	VFMADD213PD  Y4, Y0, Y3
	VFMADD213PD  Y9, Y0, Y3
	VFMADD213PD  Y9, Y0, Y3
	VPSLLQ       $60, Y1, Y4
	VPSRLQ       $60, Y4, Y4  // of the root
	VPSRLQ       $4, Y1, Y1
	VPSLLQ       $52, Y1, Y1  // of 2
	VPCMPEQD     Y6, Y6, Y6
	VGATHERQPD   Y6, (AX)(Y4*8), Y5
	VMULPD       Y5, Y3, Y3
	VPADDQ       Y1, Y3, Y3
	VADDPD       (DX), Y3, Y7
	VMOVUPD      Y7, (DX)
	VCVTPD2PSY   Y3, X3
	VMOVUPS      X3, (DI)
	ADDQ         $8, SI
	ADDQ         $16, DI
	ADDQ         $32, DX
	DECQ         R8
	JNE          exp
	DECQ         CX
	JNE          block
	VZEROUPPER
	RET

wide:
	JMP exp512<>(SB)

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

// exp512 is expVector with AVX-512.
TEXT exp512<>(SB), NOSPLIT, $0-48
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

// divide512 is divideVector with AVX-512.
TEXT divide512<>(SB), NOSPLIT, $0-48
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

// moments512 is momentsVector with AVX-512.
TEXT moments512<>(SB), NOSPLIT, $0-32
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
