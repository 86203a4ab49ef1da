#include "textflag.h"

// The Go assembler has no names for these (Arm Architecture Reference Manual, C7.2). m, n and d are registers; a "2"
// form uses the upper half of the narrower vector.
#define FCVTL(n, d)     WORD $(0x0E217800 | n<<5 | d)       // Vd.4S <- Vn.4H
#define FCVTL2(n, d)    WORD $(0x4E217800 | n<<5 | d)
#define FCVTN(n, d)     WORD $(0x0E216800 | n<<5 | d)       // Vd.4H <- Vn.4S
#define FCVTN2(n, d)    WORD $(0x4E216800 | n<<5 | d)
#define FCVTLD(n, d)    WORD $(0x0E617800 | n<<5 | d)       // Vd.2D <- Vn.2S
#define FCVTLD2(n, d)   WORD $(0x4E617800 | n<<5 | d)
#define FCVTXN(n, d)    WORD $(0x2E616800 | n<<5 | d)       // Vd.2S <- Vn.2D, rounded to odd
#define FCVTXN2(n, d)   WORD $(0x6E616800 | n<<5 | d)
#define ADD4S(m, n, d)  WORD $(0x4E20D400 | m<<16 | n<<5 | d)
#define SUB4S(m, n, d)  WORD $(0x4EA0D400 | m<<16 | n<<5 | d) // n - m
#define MUL4S(m, n, d)  WORD $(0x6E20DC00 | m<<16 | n<<5 | d)
#define DIV4S(m, n, d)  WORD $(0x6E20FC00 | m<<16 | n<<5 | d) // n / m
#define MAX4S(m, n, d)  WORD $(0x4E20F400 | m<<16 | n<<5 | d)
#define MIN4S(m, n, d)  WORD $(0x4EA0F400 | m<<16 | n<<5 | d)
#define ADD2D(m, n, d)  WORD $(0x4E60D400 | m<<16 | n<<5 | d)
#define SUB2D(m, n, d)  WORD $(0x4EE0D400 | m<<16 | n<<5 | d) // n - m
#define MUL2D(m, n, d)  WORD $(0x6E60DC00 | m<<16 | n<<5 | d)
#define FMLA2D(m, n, d) WORD $(0x4E60CC00 | m<<16 | n<<5 | d) // d + n * m
#define FMLS2D(m, n, d) WORD $(0x4EE0CC00 | m<<16 | n<<5 | d) // d - n * m
#define SMAX8H(m, n, d) WORD $(0x4E606400 | m<<16 | n<<5 | d)
#define SMIN8H(m, n, d) WORD $(0x4E606C00 | m<<16 | n<<5 | d)
#define CMHI8H(m, n, d) WORD $(0x6E603400 | m<<16 | n<<5 | d) // n > m
#define SIGNS8H(n, d)   WORD $(0x4F110400 | n<<5 | d)         // the sign in each bit
#define XOR(m, n, d)    WORD $(0x6E201C00 | m<<16 | n<<5 | d)
#define BIT(m, n, d)    WORD $(0x6EA01C00 | m<<16 | n<<5 | d) // n where m is set, else d

// The conversions depend on bits of FPCR, all of which Go leaves clear. C code on this thread may have set some.
#define CLEARMODE \
	MOVD FPCR, R19 \
	CBZ  R19, 2(PC) \
	MOVD ZR, FPCR

#define RESTOREMODE \
	CBZ  R19, 2(PC) \
	MOVD R19, FPCR

#define PAIRS(OP) \
	VLD1 (R1), [V0.H8, V1.H8] \
	VLD1 (R2), [V2.H8, V3.H8] \
	ADD  R3, R1               \
	ADD  R4, R2               \
	FCVTL(0, 4)               \
	FCVTL2(0, 5)              \
	FCVTL(1, 6)               \
	FCVTL2(1, 7)              \
	FCVTL(2, 8)               \
	FCVTL2(2, 9)              \
	FCVTL(3, 10)              \
	FCVTL2(3, 11)             \
	OP(8, 4, 4)               \
	OP(9, 5, 5)               \
	OP(10, 6, 6)              \
	OP(11, 7, 7)              \
	FCVTN(4, 16)              \
	FCVTN2(5, 16)             \
	FCVTN(6, 17)              \
	FCVTN2(7, 17)             \
	VST1.P [V16.H8, V17.H8], 32(R0) \
	SUBS $1, R5

// func binaryVector(kind int, dst, x, y *fp16.Bits, xstep, ystep, blocks int)
TEXT ·binaryVector(SB), NOSPLIT, $0-56
	MOVD kind+0(FP), R6
	MOVD dst+8(FP), R0
	MOVD x+16(FP), R1
	MOVD y+24(FP), R2
	MOVD xstep+32(FP), R3
	MOVD ystep+40(FP), R4
	MOVD blocks+48(FP), R5
	LSL  $5, R3
	LSL  $5, R4
	CLEARMODE
	CMP  $0, R6
	BEQ  add
	CMP  $1, R6
	BEQ  sub
	CMP  $2, R6
	BEQ  mul
	CMP  $3, R6
	BEQ  div
	CMP  $4, R6
	BEQ  max

min:
	PAIRS(MIN4S)
	BNE min
	B   done

add:
	PAIRS(ADD4S)
	BNE add
	B   done

sub:
	PAIRS(SUB4S)
	BNE sub
	B   done

mul:
	PAIRS(MUL4S)
	BNE mul
	B   done

div:
	PAIRS(DIV4S)
	BNE div
	B   done

max:
	PAIRS(MAX4S)
	BNE max

done:
	RESTOREMODE
	RET

// ORDERED is b with all bits but the sign inverted where it is set: as the values are ordered.
#define ORDERED(b, d) \
	SIGNS8H(b, 31)                 \
	VAND V20.B16, V31.B16, V31.B16 \
	XOR(31, b, d)

// func clampVector(dst, x *fp16.Bits, blocks int, low, high int16, keep fp16.Bits)
TEXT ·clampVector(SB), NOSPLIT, $0-30
	MOVD  dst+0(FP), R0
	MOVD  x+8(FP), R1
	MOVD  blocks+16(FP), R2
	MOVH  low+24(FP), R3
	MOVH  high+26(FP), R4
	MOVHU keep+28(FP), R5
	MOVD  $0x7fff, R6
	MOVD  $0x7c00, R7
	MOVD  $0x7e00, R8
	VDUP  R6, V20.H8
	VDUP  R7, V21.H8
	VDUP  R3, V22.H8
	VDUP  R4, V23.H8
	VDUP  R5, V24.H8
	VDUP  R8, V25.H8
	LSL   $1, R2

clamp:
	VLD1.P 16(R1), [V0.H8]
	ORDERED(0, 1)
	SMAX8H(22, 1, 1)
	SMIN8H(23, 1, 1)
	ORDERED(1, 2)
	VAND   V20.B16, V0.B16, V3.B16
	CMHI8H(21, 3, 3)
	VAND   V24.B16, V0.B16, V4.B16
	VORR   V25.B16, V4.B16, V4.B16
	BIT(3, 4, 2)
	VST1.P [V2.H8], 16(R0)
	SUBS   $1, R2
	BNE    clamp
	RET

// func absVector(dst, x *fp16.Bits, blocks int)
TEXT ·absVector(SB), NOSPLIT, $0-24
	MOVD dst+0(FP), R0
	MOVD x+8(FP), R1
	MOVD blocks+16(FP), R2
	MOVD $0x7fff, R6
	MOVD $0x7c00, R7
	MOVD $0x7e00, R8
	VDUP R6, V20.H8
	VDUP R7, V21.H8
	VDUP R8, V25.H8
	LSL  $1, R2

abs:
	VLD1.P 16(R1), [V0.H8]
	VAND   V20.B16, V0.B16, V0.B16
	CMHI8H(21, 0, 3)
	VORR   V25.B16, V0.B16, V4.B16
	BIT(3, 4, 0)
	VST1.P [V0.H8], 16(R0)
	SUBS   $1, R2
	BNE    abs
	RET

// DOUBLES decodes the 16 halves in V0 and V1 to float64 in V8 to V15.
#define DOUBLES \
	FCVTL(0, 4)    \
	FCVTL2(0, 5)   \
	FCVTL(1, 6)    \
	FCVTL2(1, 7)   \
	FCVTLD(4, 8)   \
	FCVTLD2(4, 9)  \
	FCVTLD(5, 10)  \
	FCVTLD2(5, 11) \
	FCVTLD(6, 12)  \
	FCVTLD2(6, 13) \
	FCVTLD(7, 14)  \
	FCVTLD2(7, 15)

#define SUMS \
	ADD2D(8, 16, 16)  \
	ADD2D(9, 17, 17)  \
	ADD2D(10, 18, 18) \
	ADD2D(11, 19, 19) \
	ADD2D(12, 20, 20) \
	ADD2D(13, 21, 21) \
	ADD2D(14, 22, 22) \
	ADD2D(15, 23, 23)

#define SQUARES(a, b, c, d, e, f, g, h) \
	FMLA2D(8, 8, a)   \
	FMLA2D(9, 9, b)   \
	FMLA2D(10, 10, c) \
	FMLA2D(11, 11, d) \
	FMLA2D(12, 12, e) \
	FMLA2D(13, 13, f) \
	FMLA2D(14, 14, g) \
	FMLA2D(15, 15, h)

// func sumVector(way int, sums *float64, x *fp16.Bits, blocks int)
TEXT ·sumVector(SB), NOSPLIT, $0-32
	MOVD way+0(FP), R6
	MOVD sums+8(FP), R0
	MOVD x+16(FP), R1
	MOVD blocks+24(FP), R2
	CLEARMODE
	ADD  $64, R0, R7
	VLD1 (R0), [V16.D2, V17.D2, V18.D2, V19.D2]
	VLD1 (R7), [V20.D2, V21.D2, V22.D2, V23.D2]
	MOVD $0xffff, R8   // the bits of each half that count
	CMP  $1, R6
	BNE  mask
	MOVD $0x7fff, R8

mask:
	VDUP R8, V24.H8
	CMP  $2, R6
	BEQ  squares

values:
	VLD1.P 32(R1), [V0.H8, V1.H8]
	VAND   V24.B16, V0.B16, V0.B16
	VAND   V24.B16, V1.B16, V1.B16
	DOUBLES
	SUMS
	SUBS   $1, R2
	BNE    values
	B      done

squares:
	VLD1.P 32(R1), [V0.H8, V1.H8]
	DOUBLES
	SQUARES(16, 17, 18, 19, 20, 21, 22, 23)
	SUBS   $1, R2
	BNE    squares

done:
	VST1 [V16.D2, V17.D2, V18.D2, V19.D2], (R0)
	VST1 [V20.D2, V21.D2, V22.D2, V23.D2], (R7)
	RESTOREMODE
	RET

// func momentsVector(m *Moments, x *fp16.Bits, blocks int, from float64)
TEXT ·momentsVector(SB), NOSPLIT, $0-32
	MOVD m+0(FP), R0
	MOVD x+8(FP), R1
	MOVD blocks+16(FP), R2
	MOVD from+24(FP), R3
	CLEARMODE
	VDUP R3, V2.D2
	ADD  $64, R0, R7
	ADD  $128, R0, R8
	ADD  $192, R0, R9
	VLD1 (R0), [V16.D2, V17.D2, V18.D2, V19.D2]
	VLD1 (R7), [V20.D2, V21.D2, V22.D2, V23.D2]
	VLD1 (R8), [V24.D2, V25.D2, V26.D2, V27.D2]
	VLD1 (R9), [V28.D2, V29.D2, V30.D2, V31.D2]

moments:
	VLD1.P 32(R1), [V0.H8, V1.H8]
	DOUBLES
	SUB2D(2, 8, 8)
	SUB2D(2, 9, 9)
	SUB2D(2, 10, 10)
	SUB2D(2, 11, 11)
	SUB2D(2, 12, 12)
	SUB2D(2, 13, 13)
	SUB2D(2, 14, 14)
	SUB2D(2, 15, 15)
	SUMS
	SQUARES(24, 25, 26, 27, 28, 29, 30, 31)
	SUBS   $1, R2
	BNE    moments
	VST1   [V16.D2, V17.D2, V18.D2, V19.D2], (R0)
	VST1   [V20.D2, V21.D2, V22.D2, V23.D2], (R7)
	VST1   [V24.D2, V25.D2, V26.D2, V27.D2], (R8)
	VST1   [V28.D2, V29.D2, V30.D2, V31.D2], (R9)
	RESTOREMODE
	RET

// func normalizeVector(dst, x, gamma, beta *fp16.Bits, byGamma, byBeta, blocks int, s *Scaled)
//
// It takes four elements at a time.
TEXT ·normalizeVector(SB), NOSPLIT, $0-64
	MOVD dst+0(FP), R0
	MOVD x+8(FP), R1
	MOVD gamma+16(FP), R2
	MOVD beta+24(FP), R3
	MOVD byGamma+32(FP), R4
	MOVD byBeta+40(FP), R5
	MOVD blocks+48(FP), R6
	MOVD s+56(FP), R7
	MOVD (R7), R8
	MOVD 8(R7), R9
	CLEARMODE
	VDUP R8, V16.D2
	VDUP R9, V17.D2
	LSL  $2, R6

normalize:
	VLD1.P 8(R1), [V0.H4]
	VLD1   (R2), [V1.H4]
	VLD1   (R3), [V2.H4]
	ADD    R4, R2
	ADD    R5, R3
	FCVTL(0, 0)
	FCVTL(1, 1)
	FCVTL(2, 2)
	FCVTLD(0, 4)
	FCVTLD2(0, 5)
	FCVTLD(1, 6)
	FCVTLD2(1, 7)
	FCVTLD(2, 8)
	FCVTLD2(2, 9)
	SUB2D(16, 4, 4)
	SUB2D(16, 5, 5)
	MUL2D(17, 4, 4)
	MUL2D(17, 5, 5)
	FMLA2D(6, 4, 8)
	FMLA2D(7, 5, 9)
	FCVTXN(8, 10)
	FCVTXN2(9, 10)
	FCVTN(10, 10)
	VST1.P [V10.H4], 8(R0)
	SUBS   $1, R6
	BNE    normalize
	RESTOREMODE
	RET

// func divideVector(dst *fp16.Bits, x *float32, blocks int, by, inverse float64, low, high float32)
TEXT ·divideVector(SB), NOSPLIT, $0-48
	MOVD dst+0(FP), R0
	MOVD x+8(FP), R1
	MOVD blocks+16(FP), R2
	MOVD by+24(FP), R3
	MOVD inverse+32(FP), R4
	CLEARMODE
	VDUP R3, V16.D2
	VDUP R4, V17.D2
	LSL  $2, R2

divide:
	VLD1.P 16(R1), [V0.S4]
	FCVTLD(0, 4)
	FCVTLD2(0, 5)
	MUL2D(17, 4, 6)
	MUL2D(17, 5, 7)
	FMLS2D(16, 6, 4)
	FMLS2D(16, 7, 5)
	FMLA2D(17, 4, 6)
	FMLA2D(17, 5, 7)
	FCVTXN(6, 10)
	FCVTXN2(7, 10)
	FCVTN(10, 10)
	VST1.P [V10.H4], 8(R0)
	SUBS   $1, R2
	BNE    divide
	RESTOREMODE
	RET
