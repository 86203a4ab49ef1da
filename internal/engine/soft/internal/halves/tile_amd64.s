#include "go_asm.h"
#include "textflag.h"
#include "tile_amd64.h"

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

// func tileVector(dst, src, room, fetch *uint16, to, from int, past bool)
//
// The tile goes through room, so that every line of dst is written at once.
TEXT ·tileVector(SB), NOSPLIT, $0-49
	CMPQ ·machine(SB), $const_avx512
	JEQ  wide
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
	FETCH(BX)
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
	CMPB past+48(FP), $0
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

wide:
	JMP tile512<>(SB)

// OUT writes 8 columns to rows of the result at DI: R12 is the bytes between them, R13 is 3*R12.
#define OUT(MOVE) \
	MOVE Z8, (DI)         \
	MOVE Z9, (DI)(R12*1)  \
	MOVE Z10, (DI)(R12*2) \
	MOVE Z11, (DI)(R13*1) \
	LEAQ (DI)(R12*4), DI  \
	MOVE Z12, (DI)        \
	MOVE Z13, (DI)(R12*1) \
	MOVE Z14, (DI)(R12*2) \
	MOVE Z15, (DI)(R13*1) \
	LEAQ (DI)(R12*4), DI

// tile512 is tileVector with AVX-512.
TEXT tile512<>(SB), NOSPLIT, $0-49
	MOVQ  dst+0(FP), DI
	MOVQ  src+8(FP), AX
	MOVQ  room+16(FP), DX
	MOVQ  fetch+24(FP), BX
	MOVQ  to+32(FP), R12
	MOVQ  from+40(FP), R8
	LEAQ  (R8)(R8*2), R9
	LEAQ  (R12)(R12*2), R13
	MOVQ  DX, R11
	FETCH(BX)
	LINES
	FETCH(BX)
	LINES
	FETCH(BX)
	LINES
	FETCH(BX)
	LINES
	CMPB  past+48(FP), $0
	JEQ   out
	MOVQ  DI, R10
	ORQ   R12, R10
	TESTQ $63, R10
	JEQ   past

out:
	COLUMNS(0)
	OUT(VMOVDQU64)
	COLUMNS(16)
	OUT(VMOVDQU64)
	COLUMNS(32)
	OUT(VMOVDQU64)
	COLUMNS(48)
	OUT(VMOVDQU64)
	VZEROUPPER
	RET

past:
	COLUMNS(0)
	OUT(VMOVNTDQ)
	COLUMNS(16)
	OUT(VMOVNTDQ)
	COLUMNS(32)
	OUT(VMOVNTDQ)
	COLUMNS(48)
	OUT(VMOVNTDQ)
	VZEROUPPER
	RET

// func fence()
TEXT ·fence(SB), NOSPLIT, $0-0
	SFENCE
	RET

// func copyRows(dst, src *byte, rows, size, to, from int)
//
// The last 32 bytes of a row overlap those before. A shorter row is two parts of 16, 8 or 4 bytes, which may overlap.
TEXT ·copyRows(SB), NOSPLIT, $0-48
	MOVQ dst+0(FP), DI
	MOVQ src+8(FP), SI
	MOVQ rows+16(FP), CX
	MOVQ size+24(FP), BX
	MOVQ to+32(FP), R8
	MOVQ from+40(FP), R9
	CMPQ BX, $8
	JLT  fours
	CMPQ BX, $16
	JLT  eights
	SUBQ $32, BX
	JLT  sixteens

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

#define NEXTPARTS(part) \
	ADDQ R9, SI  \
	ADDQ R8, DI  \
	DECQ CX      \
	JNE  part    \
	RET

sixteens:
	ADDQ $16, BX

sixteen:
	MOVOU (SI), X0
	MOVOU (SI)(BX*1), X1
	MOVOU X0, (DI)
	MOVOU X1, (DI)(BX*1)
	NEXTPARTS(sixteen)

eights:
	SUBQ $8, BX

eight:
	MOVQ (SI), AX
	MOVQ (SI)(BX*1), DX
	MOVQ AX, (DI)
	MOVQ DX, (DI)(BX*1)
	NEXTPARTS(eight)

fours:
	SUBQ $4, BX

four:
	MOVL (SI), AX
	MOVL (SI)(BX*1), DX
	MOVL AX, (DI)
	MOVL DX, (DI)(BX*1)
	NEXTPARTS(four)
