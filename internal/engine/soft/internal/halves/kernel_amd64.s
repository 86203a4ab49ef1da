#include "textflag.h"

DATA magnitude<>+0(SB)/8, $0x7fffffffffffffff
GLOBL magnitude<>(SB), RODATA|NOPTR, $8

// The loops of binaryVector: DI is dst, SI and DX are x and y, which advance by R8 and R9 bytes, CX counts the blocks.

#define BOTH \
	VCVTPH2PS (SI), Y0   \
	VCVTPH2PS 16(SI), Y1 \
	VCVTPH2PS (DX), Y2   \
	VCVTPH2PS 16(DX), Y3 \
	ADDQ      R8, SI     \
	ADDQ      R9, DX

#define PUT \
	VCVTPS2PH $0, Y0, (DI)   \
	VCVTPS2PH $0, Y1, 16(DI) \
	ADDQ      $32, DI        \
	DECQ      CX

// PICK replaces x of MAXPS or MINPS: where x = y by both's bits (of zeros the sign decides), where one is NaN by
// their sum.
#define PICK(PAIR, BITS, x, y) \
	PAIR      y, x, Y4       \
	BITS      y, x, Y5       \
	VCMPPS    $0, y, x, Y6   \
	VBLENDVPS Y6, Y5, Y4, Y4 \
	VCMPPS    $3, y, x, Y6   \
	VADDPS    y, x, Y5       \
	VBLENDVPS Y6, Y5, Y4, x

// func binaryVector(op int, dst, x, y *fp16.Bits, xstep, ystep, blocks int)
TEXT ·binaryVector(SB), NOSPLIT, $0-56
	MOVQ op+0(FP), AX
	MOVQ dst+8(FP), DI
	MOVQ x+16(FP), SI
	MOVQ y+24(FP), DX
	MOVQ xstep+32(FP), R8
	MOVQ ystep+40(FP), R9
	MOVQ blocks+48(FP), CX
	SHLQ $5, R8
	SHLQ $5, R9
	CMPQ AX, $1
	JLT  add
	JEQ  sub
	CMPQ AX, $3
	JLT  mul
	JEQ  div
	CMPQ AX, $5
	JLT  max

min:
	BOTH
	PICK(VMINPS, VORPS, Y0, Y2)
	PICK(VMINPS, VORPS, Y1, Y3)
	PUT
	JNE min
	VZEROUPPER
	RET

max:
	BOTH
	PICK(VMAXPS, VANDPS, Y0, Y2)
	PICK(VMAXPS, VANDPS, Y1, Y3)
	PUT
	JNE max
	VZEROUPPER
	RET

add:
	BOTH
	VADDPS Y2, Y0, Y0
	VADDPS Y3, Y1, Y1
	PUT
	JNE    add
	VZEROUPPER
	RET

sub:
	BOTH
	VSUBPS Y2, Y0, Y0
	VSUBPS Y3, Y1, Y1
	PUT
	JNE    sub
	VZEROUPPER
	RET

mul:
	BOTH
	VMULPS Y2, Y0, Y0
	VMULPS Y3, Y1, Y1
	PUT
	JNE    mul
	VZEROUPPER
	RET

div:
	BOTH
	VDIVPS Y2, Y0, Y0
	VDIVPS Y3, Y1, Y1
	PUT
	JNE    div
	VZEROUPPER
	RET

// CONSTANTS sets Y15 to 0x7fff, Y14 to 0x7c00 and Y13 to 0x7e00 in each of 16 elements.
#define CONSTANTS \
	VPCMPEQW Y15, Y15, Y15 \
	VPSRLW   $1, Y15, Y15  \
	VPSRLW   $10, Y15, Y14 \
	VPSLLW   $10, Y14, Y14 \
	VPSRLW   $9, Y15, Y13  \
	VPSLLW   $9, Y13, Y13

// KEY exchanges halves and their keys.
#define KEY(h, room) \
	VPSRAW $15, h, room    \
	VPAND  Y15, room, room \
	VPXOR  room, h, h

// func clampVector(dst, x *fp16.Bits, blocks int, low, high int16, keep fp16.Bits)
TEXT ·clampVector(SB), NOSPLIT, $0-30
	MOVQ dst+0(FP), DI
	MOVQ x+8(FP), SI
	MOVQ blocks+16(FP), CX
	VPBROADCASTW low+24(FP), Y12
	VPBROADCASTW high+26(FP), Y11
	VPBROADCASTW keep+28(FP), Y10
	CONSTANTS

clamp:
	VMOVDQU   (SI), Y0
	VPAND     Y15, Y0, Y2
	VPCMPGTW  Y14, Y2, Y2      // NaNs
	VPAND     Y10, Y0, Y3
	VPOR      Y13, Y3, Y3
	KEY(Y0, Y1)
	VPMAXSW   Y12, Y0, Y0
	VPMINSW   Y11, Y0, Y0
	KEY(Y0, Y1)
	VPBLENDVB Y2, Y3, Y0, Y0
	VMOVDQU   Y0, (DI)
	ADDQ      $32, SI
	ADDQ      $32, DI
	DECQ      CX
	JNE       clamp
	VZEROUPPER
	RET

// func absVector(dst, x *fp16.Bits, blocks int)
TEXT ·absVector(SB), NOSPLIT, $0-24
	MOVQ dst+0(FP), DI
	MOVQ x+8(FP), SI
	MOVQ blocks+16(FP), CX
	CONSTANTS

abs:
	VPAND    (SI), Y15, Y0
	VPCMPGTW Y14, Y0, Y1
	VPAND    Y13, Y1, Y1
	VPOR     Y1, Y0, Y0
	VMOVDQU  Y0, (DI)
	ADDQ     $32, SI
	ADDQ     $32, DI
	DECQ     CX
	JNE      abs
	VZEROUPPER
	RET

// WIDE decodes 16 halves at SI to float64 in Y0 to Y3.
#define WIDE \
	VCVTPH2PS (SI), X0   \
	VCVTPH2PS 8(SI), X1  \
	VCVTPH2PS 16(SI), X2 \
	VCVTPH2PS 24(SI), X3 \
	VCVTPS2PD X0, Y0     \
	VCVTPS2PD X1, Y1     \
	VCVTPS2PD X2, Y2     \
	VCVTPS2PD X3, Y3     \
	ADDQ      $32, SI

#define MAGNITUDES \
	VANDPD Y15, Y0, Y0 \
	VANDPD Y15, Y1, Y1 \
	VANDPD Y15, Y2, Y2 \
	VANDPD Y15, Y3, Y3

#define SUMS \
	VADDPD Y0, Y8, Y8   \
	VADDPD Y1, Y9, Y9   \
	VADDPD Y2, Y10, Y10 \
	VADDPD Y3, Y11, Y11

#define SQUARES \
	VFMADD231PD Y0, Y0, Y8  \
	VFMADD231PD Y1, Y1, Y9  \
	VFMADD231PD Y2, Y2, Y10 \
	VFMADD231PD Y3, Y3, Y11

#define LOADSUMS \
	VMOVUPD (DI), Y8    \
	VMOVUPD 32(DI), Y9  \
	VMOVUPD 64(DI), Y10 \
	VMOVUPD 96(DI), Y11

#define STORESUMS \
	VMOVUPD Y8, (DI)    \
	VMOVUPD Y9, 32(DI)  \
	VMOVUPD Y10, 64(DI) \
	VMOVUPD Y11, 96(DI)

// func sumVector(way int, sums *float64, x *fp16.Bits, blocks int)
TEXT ·sumVector(SB), NOSPLIT, $0-32
	MOVQ way+0(FP), AX
	MOVQ sums+8(FP), DI
	MOVQ x+16(FP), SI
	MOVQ blocks+24(FP), CX
	VBROADCASTSD magnitude<>(SB), Y15
	LOADSUMS
	CMPQ AX, $1
	JLT  values
	JEQ  magnitudes

squares:
	WIDE
	SQUARES
	DECQ CX
	JNE  squares
	JMP  end

magnitudes:
	WIDE
	MAGNITUDES
	SUMS
	DECQ CX
	JNE  magnitudes
	JMP  end

values:
	WIDE
	SUMS
	DECQ CX
	JNE  values

end:
	STORESUMS
	VZEROUPPER
	RET

// func addToVector(way int, sums *float64, x *fp16.Bits, blocks, rows, stride int)
TEXT ·addToVector(SB), NOSPLIT, $0-48
	MOVQ way+0(FP), AX
	MOVQ sums+8(FP), DI
	MOVQ x+16(FP), BX
	MOVQ blocks+24(FP), CX
	MOVQ rows+32(FP), R9
	MOVQ stride+40(FP), R8
	VBROADCASTSD magnitude<>(SB), Y15
	CMPQ AX, $1
	JLT  values
	JEQ  magnitudes

squares:
	LOADSUMS
	MOVQ BX, SI
	MOVQ R9, AX

squaresRow:
	WIDE
	PREFETCHT0 -32(SI)(R8*8)   // of the next rows
	LEAQ -32(SI)(R8*1), SI
	SQUARES
	DECQ AX
	JNE  squaresRow
	STORESUMS
	ADDQ $128, DI
	ADDQ $32, BX
	DECQ CX
	JNE  squares
	VZEROUPPER
	RET

magnitudes:
	LOADSUMS
	MOVQ BX, SI
	MOVQ R9, AX

magnitudesRow:
	WIDE
	PREFETCHT0 -32(SI)(R8*8)   // of the next rows
	LEAQ -32(SI)(R8*1), SI
	MAGNITUDES
	SUMS
	DECQ AX
	JNE  magnitudesRow
	STORESUMS
	ADDQ $128, DI
	ADDQ $32, BX
	DECQ CX
	JNE  magnitudes
	VZEROUPPER
	RET

values:
	LOADSUMS
	MOVQ BX, SI
	MOVQ R9, AX

valuesRow:
	WIDE
	PREFETCHT0 -32(SI)(R8*8)   // of the next rows
	LEAQ -32(SI)(R8*1), SI
	SUMS
	DECQ AX
	JNE  valuesRow
	STORESUMS
	ADDQ $128, DI
	ADDQ $32, BX
	DECQ CX
	JNE  values
	VZEROUPPER
	RET

// func spanVector(s *Span, x *fp16.Bits, blocks int)
TEXT ·spanVector(SB), NOSPLIT, $0-24
	MOVQ    s+0(FP), DI
	MOVQ    x+8(FP), SI
	MOVQ    blocks+16(FP), CX
	CONSTANTS
	VMOVDQU (DI), Y8
	VMOVDQU 32(DI), Y9
	VMOVDQU 64(DI), Y10

span:
	VMOVDQU  (SI), Y0
	VPAND    Y15, Y0, Y2
	VPCMPGTW Y14, Y2, Y2
	VPOR     Y2, Y10, Y10
	KEY(Y0, Y1)
	VPMINSW  Y0, Y8, Y8
	VPMAXSW  Y0, Y9, Y9
	ADDQ     $32, SI
	DECQ     CX
	JNE      span

	VMOVDQU Y8, (DI)
	VMOVDQU Y9, 32(DI)
	VMOVDQU Y10, 64(DI)
	VZEROUPPER
	RET

// func spansVector(least int, keys, nans *int16, x *fp16.Bits, blocks, rows, stride int)
TEXT ·spansVector(SB), NOSPLIT, $0-56
	MOVQ least+0(FP), R10
	MOVQ keys+8(FP), DI
	MOVQ nans+16(FP), DX
	MOVQ x+24(FP), BX
	MOVQ blocks+32(FP), CX
	MOVQ rows+40(FP), R9
	MOVQ stride+48(FP), R8
	CONSTANTS

columns:
	VMOVDQU (DI), Y8
	VMOVDQU (DX), Y10
	MOVQ    BX, SI
	MOVQ    R9, AX
	TESTQ   R10, R10
	JNE     low

high:
	PREFETCHT0 (SI)(R8*8)      // of the next rows
	VMOVDQU    (SI), Y0
	VPAND      Y15, Y0, Y2
	VPCMPGTW   Y14, Y2, Y2
	VPOR       Y2, Y10, Y10
	KEY(Y0, Y1)
	VPMAXSW    Y0, Y8, Y8
	ADDQ       R8, SI
	DECQ       AX
	JNE        high
	JMP        next

low:
	PREFETCHT0 (SI)(R8*8)
	VMOVDQU    (SI), Y0
	VPAND      Y15, Y0, Y2
	VPCMPGTW   Y14, Y2, Y2
	VPOR       Y2, Y10, Y10
	KEY(Y0, Y1)
	VPMINSW    Y0, Y8, Y8
	ADDQ       R8, SI
	DECQ       AX
	JNE        low

next:
	VMOVDQU Y8, (DI)
	VMOVDQU Y10, (DX)
	ADDQ    $32, DI
	ADDQ    $32, DX
	ADDQ    $32, BX
	DECQ    CX
	JNE     columns
	VZEROUPPER
	RET

// EIGHT transposes 8 x 8 halves at SI, rows R9 bytes apart, to R12, rows 64 bytes apart. R10 is 3*R9, R11 is SI+4*R9.
#define EIGHT \
	VMOVDQU     (SI), X0          \
	VMOVDQU     (SI)(R9*1), X1    \
	VMOVDQU     (SI)(R9*2), X2    \
	VMOVDQU     (SI)(R10*1), X3   \
	VMOVDQU     (R11), X4         \
	VMOVDQU     (R11)(R9*1), X5   \
	VMOVDQU     (R11)(R9*2), X6   \
	VMOVDQU     (R11)(R10*1), X7  \
	VPUNPCKLWD  X1, X0, X8        \
	VPUNPCKHWD  X1, X0, X9        \
	VPUNPCKLWD  X3, X2, X10       \
	VPUNPCKHWD  X3, X2, X11       \
	VPUNPCKLWD  X5, X4, X12       \
	VPUNPCKHWD  X5, X4, X13       \
	VPUNPCKLWD  X7, X6, X14       \
	VPUNPCKHWD  X7, X6, X15       \
	VPUNPCKLDQ  X10, X8, X0       \
	VPUNPCKHDQ  X10, X8, X1       \
	VPUNPCKLDQ  X11, X9, X2       \
	VPUNPCKHDQ  X11, X9, X3       \
	VPUNPCKLDQ  X14, X12, X4      \
	VPUNPCKHDQ  X14, X12, X5      \
	VPUNPCKLDQ  X15, X13, X6      \
	VPUNPCKHDQ  X15, X13, X7      \
	VPUNPCKLQDQ X4, X0, X8        \
	VPUNPCKHQDQ X4, X0, X9        \
	VPUNPCKLQDQ X5, X1, X10       \
	VPUNPCKHQDQ X5, X1, X11       \
	VPUNPCKLQDQ X6, X2, X12       \
	VPUNPCKHQDQ X6, X2, X13       \
	VPUNPCKLQDQ X7, X3, X14       \
	VPUNPCKHQDQ X7, X3, X15       \
	VMOVDQU     X8, (R12)         \
	VMOVDQU     X9, 64(R12)       \
	VMOVDQU     X10, 128(R12)     \
	VMOVDQU     X11, 192(R12)     \
	VMOVDQU     X12, 256(R12)     \
	VMOVDQU     X13, 320(R12)     \
	VMOVDQU     X14, 384(R12)     \
	VMOVDQU     X15, 448(R12)     \
	ADDQ        $16, SI           \
	ADDQ        $16, R11          \
	ADDQ        $512, R12

// func tileVector(dst, src, room *uint16, to, from int)
//
// The tile goes through room, so that every line of dst is written at once.
TEXT ·tileVector(SB), NOSPLIT, $0-40
	MOVQ dst+0(FP), DI
	MOVQ src+8(FP), SI
	MOVQ room+16(FP), DX
	MOVQ to+24(FP), R8
	MOVQ from+32(FP), R9
	LEAQ (R9)(R9*2), R10
	MOVQ $4, CX

rows:
	LEAQ (SI)(R9*4), R11
	MOVQ DX, R12
	MOVQ SI, AX
	PREFETCHT0 64(SI)           // of the next tile
	PREFETCHT0 64(SI)(R9*1)
	PREFETCHT0 64(SI)(R9*2)
	PREFETCHT0 64(SI)(R10*1)
	PREFETCHT0 64(R11)
	PREFETCHT0 64(R11)(R9*1)
	PREFETCHT0 64(R11)(R9*2)
	PREFETCHT0 64(R11)(R10*1)
	EIGHT
	EIGHT
	EIGHT
	EIGHT
	LEAQ (AX)(R9*8), SI
	ADDQ $16, DX
	DECQ CX
	JNE  rows

	MOVQ room+16(FP), DX
	MOVQ $16, CX

out:
	VMOVDQU (DX), Y0
	VMOVDQU 32(DX), Y1
	VMOVDQU 64(DX), Y2
	VMOVDQU 96(DX), Y3
	VMOVDQU Y0, (DI)
	VMOVDQU Y1, 32(DI)
	VMOVDQU Y2, (DI)(R8*1)
	VMOVDQU Y3, 32(DI)(R8*1)
	LEAQ    (DI)(R8*2), DI
	ADDQ    $128, DX
	DECQ    CX
	JNE     out
	VZEROUPPER
	RET

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

// func mulRowsVector(sums, vector *float32, x *fp16.Bits, blocks, rows, stride int)
TEXT ·mulRowsVector(SB), NOSPLIT, $0-48
	MOVQ sums+0(FP), DI
	MOVQ vector+8(FP), DX
	MOVQ x+16(FP), BX
	MOVQ blocks+24(FP), CX
	MOVQ rows+32(FP), R9
	MOVQ stride+40(FP), R8

columns:
	VMOVUPS (DI), Y0
	VMOVUPS 32(DI), Y1
	MOVQ    BX, SI
	MOVQ    DX, R10
	MOVQ    R9, AX

row:
	PREFETCHT0   (SI)(R8*8)     // of the next rows
	VCVTPH2PS    (SI), Y2
	VCVTPH2PS    16(SI), Y3
	VBROADCASTSS (R10), Y4
	VFMADD231PS  Y2, Y4, Y0
	VFMADD231PS  Y3, Y4, Y1
	ADDQ         R8, SI
	ADDQ         $4, R10
	DECQ         AX
	JNE          row

	VMOVUPS Y0, (DI)
	VMOVUPS Y1, 32(DI)
	ADDQ    $64, DI
	ADDQ    $32, BX
	DECQ    CX
	JNE     columns
	VZEROUPPER
	RET

// TERM adds column k of 16 rows, halves in h, times element k of the vector.
#define TERM(k, h, wide, sums) \
	VCVTPH2PS        h, wide \
	VFMADD231PS.BCST (4*k)(DX), wide, sums

// SIXTEEN adds 8 columns of 16 rows from r to sums: it transposes them to 16 halves of one column. R8 is the bytes
// between rows, R9 3 times that; r4, r8 and r12 are r + 4, 8 and 12 rows.
#define SIXTEEN(r, r4, r8, r12, sums) \
	VMOVDQU     (r), X0                     \
	VMOVDQU     (r)(R8*1), X1               \
	VMOVDQU     (r)(R8*2), X2               \
	VMOVDQU     (r)(R9*1), X3               \
	VMOVDQU     (r4), X4                    \
	VMOVDQU     (r4)(R8*1), X5              \
	VMOVDQU     (r4)(R8*2), X6              \
	VMOVDQU     (r4)(R9*1), X7              \
	VINSERTI128 $1, (r8), Y0, Y0            \
	VINSERTI128 $1, (r8)(R8*1), Y1, Y1      \
	VINSERTI128 $1, (r8)(R8*2), Y2, Y2      \
	VINSERTI128 $1, (r8)(R9*1), Y3, Y3      \
	VINSERTI128 $1, (r12), Y4, Y4           \
	VINSERTI128 $1, (r12)(R8*1), Y5, Y5     \
	VINSERTI128 $1, (r12)(R8*2), Y6, Y6     \
	VINSERTI128 $1, (r12)(R9*1), Y7, Y7     \
	VPUNPCKLWD  Y1, Y0, Y8                  \
	VPUNPCKHWD  Y1, Y0, Y9                  \
	VPUNPCKLWD  Y3, Y2, Y10                 \
	VPUNPCKHWD  Y3, Y2, Y11                 \
	VPUNPCKLWD  Y5, Y4, Y12                 \
	VPUNPCKHWD  Y5, Y4, Y13                 \
	VPUNPCKLWD  Y7, Y6, Y14                 \
	VPUNPCKHWD  Y7, Y6, Y15                 \
	VPUNPCKLDQ  Y10, Y8, Y0                 \
	VPUNPCKHDQ  Y10, Y8, Y1                 \
	VPUNPCKLDQ  Y11, Y9, Y2                 \
	VPUNPCKHDQ  Y11, Y9, Y3                 \
	VPUNPCKLDQ  Y14, Y12, Y4                \
	VPUNPCKHDQ  Y14, Y12, Y5                \
	VPUNPCKLDQ  Y15, Y13, Y6                \
	VPUNPCKHDQ  Y15, Y13, Y7                \
	VPUNPCKLQDQ Y4, Y0, Y8                  \
	VPUNPCKHQDQ Y4, Y0, Y9                  \
	VPUNPCKLQDQ Y5, Y1, Y10                 \
	VPUNPCKHQDQ Y5, Y1, Y11                 \
	VPUNPCKLQDQ Y6, Y2, Y12                 \
	VPUNPCKHQDQ Y6, Y2, Y13                 \
	VPUNPCKLQDQ Y7, Y3, Y14                 \
	VPUNPCKHQDQ Y7, Y3, Y15                 \
	TERM(0, Y8, Z16, sums)                  \
	TERM(1, Y9, Z17, sums)                  \
	TERM(2, Y10, Z18, sums)                 \
	TERM(3, Y11, Z19, sums)                 \
	TERM(4, Y12, Z20, sums)                 \
	TERM(5, Y13, Z21, sums)                 \
	TERM(6, Y14, Z22, sums)                 \
	TERM(7, Y15, Z23, sums)

#define AHEAD(r) \
	PREFETCHT0 512(r)       \
	PREFETCHT0 512(r)(R8*1) \
	PREFETCHT0 512(r)(R8*2) \
	PREFETCHT0 512(r)(R9*1)

// func dotsVector(sums *[dotRows]float32, vector *float32, x *fp16.Bits, blocks, stride int)
TEXT ·dotsVector(SB), NOSPLIT, $0-40
	MOVQ    sums+0(FP), DI
	MOVQ    vector+8(FP), DX
	MOVQ    x+16(FP), SI
	MOVQ    blocks+24(FP), CX
	MOVQ    stride+32(FP), R8
	LEAQ    (R8)(R8*2), R9
	LEAQ    (SI)(R8*4), R10
	LEAQ    (SI)(R8*8), R11
	LEAQ    (R10)(R8*8), R12
	LEAQ    (R11)(R8*8), R13
	LEAQ    (R12)(R8*8), AX
	LEAQ    (R13)(R8*8), BX
	LEAQ    (AX)(R8*8), R15
	VMOVUPS (DI), Z30
	VMOVUPS 64(DI), Z31

low:
	TESTQ $3, CX
	JNE   lowNear
	AHEAD(SI)
	AHEAD(R10)
	AHEAD(R11)
	AHEAD(R12)

lowNear:
	SIXTEEN(SI, R10, R11, R12, Z30)
	ADDQ $16, SI
	ADDQ $16, R10
	ADDQ $16, R11
	ADDQ $16, R12
	ADDQ $32, DX
	DECQ CX
	JNE  low

	MOVQ vector+8(FP), DX
	MOVQ blocks+24(FP), CX

high:
	TESTQ $3, CX
	JNE   highNear
	AHEAD(R13)
	AHEAD(AX)
	AHEAD(BX)
	AHEAD(R15)

highNear:
	SIXTEEN(R13, AX, BX, R15, Z31)
	ADDQ $16, R13
	ADDQ $16, AX
	ADDQ $16, BX
	ADDQ $16, R15
	ADDQ $32, DX
	DECQ CX
	JNE  high

	VMOVUPS Z30, (DI)
	VMOVUPS Z31, 64(DI)
	VZEROUPPER
	RET

// func mulFourVector(sums, vectors *float32, x *fp16.Bits, blocks, rows, stride, bySums, byVectors int)
TEXT ·mulFourVector(SB), NOSPLIT, $0-64
	MOVQ sums+0(FP), DI
	MOVQ vectors+8(FP), DX
	MOVQ x+16(FP), BX
	MOVQ blocks+24(FP), CX
	MOVQ rows+32(FP), R9
	MOVQ stride+40(FP), R8
	MOVQ bySums+48(FP), R10
	MOVQ byVectors+56(FP), R11
	LEAQ (R10)(R10*2), R12
	LEAQ (R11)(R11*2), R13

columns:
	VMOVUPS (DI), Z0
	VMOVUPS 64(DI), Z1
	VMOVUPS (DI)(R10*1), Z2
	VMOVUPS 64(DI)(R10*1), Z3
	VMOVUPS (DI)(R10*2), Z4
	VMOVUPS 64(DI)(R10*2), Z5
	VMOVUPS (DI)(R12*1), Z6
	VMOVUPS 64(DI)(R12*1), Z7
	MOVQ    BX, SI
	MOVQ    DX, R15
	MOVQ    R9, AX

row:
	PREFETCHT0       (SI)(R8*8)           // of the next rows
	VCVTPH2PS        (SI), Z8
	VCVTPH2PS        32(SI), Z9
	VBROADCASTSS     (R15), Z10
	VBROADCASTSS     (R15)(R11*1), Z11
	VBROADCASTSS     (R15)(R11*2), Z12
	VBROADCASTSS     (R15)(R13*1), Z13
	VFMADD231PS      Z8, Z10, Z0
	VFMADD231PS      Z9, Z10, Z1
	VFMADD231PS      Z8, Z11, Z2
	VFMADD231PS      Z9, Z11, Z3
	VFMADD231PS      Z8, Z12, Z4
	VFMADD231PS      Z9, Z12, Z5
	VFMADD231PS      Z8, Z13, Z6
	VFMADD231PS      Z9, Z13, Z7
	ADDQ             R8, SI
	ADDQ             $4, R15
	DECQ             AX
	JNE              row

	VMOVUPS Z0, (DI)
	VMOVUPS Z1, 64(DI)
	VMOVUPS Z2, (DI)(R10*1)
	VMOVUPS Z3, 64(DI)(R10*1)
	VMOVUPS Z4, (DI)(R10*2)
	VMOVUPS Z5, 64(DI)(R10*2)
	VMOVUPS Z6, (DI)(R12*1)
	VMOVUPS Z7, 64(DI)(R12*1)
	ADDQ    $128, DI
	ADDQ    $64, BX
	DECQ    CX
	JNE     columns
	VZEROUPPER
	RET
