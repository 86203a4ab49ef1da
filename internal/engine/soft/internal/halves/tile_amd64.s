#include "textflag.h"

// EIGHT transposes 8 x 8 halves at SI, rows R9 bytes apart, to X8 to X15. R10 is 3*R9, R11 is SI+4*R9.
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
	VPUNPCKHQDQ X7, X3, X15

// PUTEIGHT writes them to rows of room at R12, and moves on to the next 8 columns.
#define PUTEIGHT \
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

// TWO writes two rows of room at DX to rows of the result at DI.
#define TWO(MOVE) \
	VMOVDQU (DX), Y0           \
	VMOVDQU 32(DX), Y1         \
	VMOVDQU 64(DX), Y2         \
	VMOVDQU 96(DX), Y3         \
	MOVE    Y0, (DI)           \
	MOVE    Y1, 32(DI)         \
	MOVE    Y2, (DI)(R8*1)     \
	MOVE    Y3, 32(DI)(R8*1)   \
	LEAQ    (DI)(R8*2), DI     \
	ADDQ    $128, DX           \
	DECQ    CX

// func tile256(dst, src, room, fetch *uint16, to, from, past int)
//
// The tile goes through room, so that every line of dst is written at once.
TEXT ·tile256(SB), NOSPLIT, $0-56
	MOVQ dst+0(FP), DI
	MOVQ src+8(FP), SI
	MOVQ room+16(FP), DX
	MOVQ fetch+24(FP), BX
	MOVQ to+32(FP), R8
	MOVQ from+40(FP), R9
	LEAQ (R9)(R9*2), R10
	MOVQ $4, CX

rows:
	LEAQ (SI)(R9*4), R11
	MOVQ DX, R12
	MOVQ SI, AX
	PREFETCHT1 (BX)
	PREFETCHT1 64(BX)
	PREFETCHT1 128(BX)
	PREFETCHT1 192(BX)
	PREFETCHT1 256(BX)
	PREFETCHT1 320(BX)
	PREFETCHT1 384(BX)
	PREFETCHT1 448(BX)
	ADDQ $512, BX
	EIGHT
	PUTEIGHT
	EIGHT
	PUTEIGHT
	EIGHT
	PUTEIGHT
	EIGHT
	PUTEIGHT
	LEAQ (AX)(R9*8), SI
	ADDQ $16, DX
	DECQ CX
	JNE  rows

	MOVQ room+16(FP), DX
	MOVQ $16, CX
	CMPQ past+48(FP), $0
	JEQ  out
	MOVQ DI, AX
	ORQ  R8, AX
	TESTQ $31, AX
	JEQ  past

out:
	TWO(VMOVDQU)
	JNE out
	VZEROUPPER
	RET

past:
	TWO(VMOVNTDQ)
	JNE past
	VZEROUPPER
	RET

// TERM adds column k of 8 rows, halves in x, times element k of the vector at DX to Y0.
#define TERM(k, x) \
	VCVTPH2PS    x, Y1       \
	VBROADCASTSS (4*(k))(DX), Y2 \
	VFMADD231PS  Y1, Y2, Y0

// func dots256(sums *[dotRows]float32, vector *float32, x, room, fetch *fp16.Bits, blocks, stride int)
//
// Eight rows have 32 columns each before the next eight.
TEXT ·dots256(SB), NOSPLIT, $0-56
	MOVQ vector+8(FP), DX
	MOVQ x+16(FP), BX
	MOVQ blocks+40(FP), CX
	MOVQ stride+48(FP), R9
	LEAQ (R9)(R9*2), R10

block:
	MOVQ sums+0(FP), DI
	MOVQ BX, R8
	MOVQ $4, R12

rows:
	MOVQ R8, SI
	LEAQ (SI)(R9*4), R11
	MOVQ $4, AX

columns:
	EIGHT
	VMOVUPS (DI), Y0
	TERM(0, X8)
	TERM(1, X9)
	TERM(2, X10)
	TERM(3, X11)
	TERM(4, X12)
	TERM(5, X13)
	TERM(6, X14)
	TERM(7, X15)
	VMOVUPS Y0, (DI)
	ADDQ $16, SI
	ADDQ $16, R11
	ADDQ $32, DX
	DECQ AX
	JNE  columns

	SUBQ $128, DX
	ADDQ $32, DI
	LEAQ (R8)(R9*8), R8
	DECQ R12
	JNE  rows

	ADDQ $128, DX
	ADDQ $64, BX
	DECQ CX
	JNE  block
	VZEROUPPER
	RET

// func fence()
TEXT ·fence(SB), NOSPLIT, $0-0
	SFENCE
	RET

// func copyRows(dst, src *byte, rows, size, to, from int)
//
// The last 32 bytes of a row overlap those before.
TEXT ·copyRows(SB), NOSPLIT, $0-48
	MOVQ dst+0(FP), DI
	MOVQ src+8(FP), SI
	MOVQ rows+16(FP), CX
	MOVQ size+24(FP), BX
	MOVQ to+32(FP), R8
	MOVQ from+40(FP), R9
	SUBQ $32, BX

row:
	XORQ AX, AX

part:
	CMPQ    AX, BX
	JGE     last
	VMOVDQU (SI)(AX*1), Y0
	VMOVDQU Y0, (DI)(AX*1)
	ADDQ    $32, AX
	JMP     part

last:
	VMOVDQU (SI)(BX*1), Y0
	VMOVDQU Y0, (DI)(BX*1)
	ADDQ    R9, SI
	ADDQ    R8, DI
	DECQ    CX
	JNE     row
	VZEROUPPER
	RET
