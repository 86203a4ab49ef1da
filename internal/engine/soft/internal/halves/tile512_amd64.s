#include "textflag.h"

// Tiles of 32 x 32 halves go through room: where rows are a multiple of 4 KiB apart, all of them have one place in
// the first-level cache, which keeps fewer lines of one place.

// LINES copies 8 rows of 64 bytes at AX to room at R11 and moves on to the next 8. R8 is the bytes between rows, R9 is
// 3*R8.
#define LINES \
	LEAQ       (AX)(R8*4), R10      \
	VMOVDQU64  (AX), Z18            \
	VMOVDQU64  (AX)(R8*1), Z19      \
	VMOVDQU64  (AX)(R8*2), Z20      \
	VMOVDQU64  (AX)(R9*1), Z21      \
	VMOVDQU64  (R10), Z22           \
	VMOVDQU64  (R10)(R8*1), Z23     \
	VMOVDQU64  (R10)(R8*2), Z24     \
	VMOVDQU64  (R10)(R9*1), Z25     \
	VMOVDQU64  Z18, (R11)           \
	VMOVDQU64  Z19, 64(R11)         \
	VMOVDQU64  Z20, 128(R11)        \
	VMOVDQU64  Z21, 192(R11)        \
	VMOVDQU64  Z22, 256(R11)        \
	VMOVDQU64  Z23, 320(R11)        \
	VMOVDQU64  Z24, 384(R11)        \
	VMOVDQU64  Z25, 448(R11)        \
	ADDQ       $512, R11            \
	LEAQ       (AX)(R8*8), AX

// FETCH fetches 8 lines at r and moves on.
#define FETCH(r) \
	PREFETCHT1 (r)    \
	PREFETCHT1 64(r)  \
	PREFETCHT1 128(r) \
	PREFETCHT1 192(r) \
	PREFETCHT1 256(r) \
	PREFETCHT1 320(r) \
	PREFETCHT1 384(r) \
	PREFETCHT1 448(r) \
	ADDQ       $512, r

// AHEAD fetches a line of each of the 8 rows at AX, 512 bytes further on.
#define AHEAD \
	LEAQ       (AX)(R8*4), R10   \
	PREFETCHT1 512(AX)           \
	PREFETCHT1 512(AX)(R8*1)     \
	PREFETCHT1 512(AX)(R8*2)     \
	PREFETCHT1 512(AX)(R9*1)     \
	PREFETCHT1 512(R10)          \
	PREFETCHT1 512(R10)(R8*1)    \
	PREFETCHT1 512(R10)(R8*2)    \
	PREFETCHT1 512(R10)(R9*1)

// NEXT is LINES after FETCH from R13 on, or AHEAD if that is 0.
#define NEXT(ahead, lines) \
	TESTQ R13, R13 \
	JEQ   ahead    \
	FETCH(R13)     \
	JMP   lines    \
ahead:             \
	AHEAD          \
lines:             \
	LINES

// FOUR loads 8 columns, from byte o on, of rows r, r+8, r+16 and r+24 in room.
#define FOUR(o, r, x, z) \
	VMOVDQU      (o+64*r)(DX), x            \
	VINSERTI32X4 $1, (o+64*r+512)(DX), z, z  \
	VINSERTI32X4 $2, (o+64*r+1024)(DX), z, z \
	VINSERTI32X4 $3, (o+64*r+1536)(DX), z, z

// COLUMNS leaves 8 columns, from byte o of the rows in room on, in Z8 to Z15.
#define COLUMNS(o) \
	FOUR(o, 0, X0, Z0)         \
	FOUR(o, 1, X1, Z1)         \
	FOUR(o, 2, X2, Z2)         \
	FOUR(o, 3, X3, Z3)         \
	FOUR(o, 4, X4, Z4)         \
	FOUR(o, 5, X5, Z5)         \
	FOUR(o, 6, X6, Z6)         \
	FOUR(o, 7, X7, Z7)         \
	VPUNPCKLWD  Z1, Z0, Z8     \
	VPUNPCKHWD  Z1, Z0, Z9     \
	VPUNPCKLWD  Z3, Z2, Z10    \
	VPUNPCKHWD  Z3, Z2, Z11    \
	VPUNPCKLWD  Z5, Z4, Z12    \
	VPUNPCKHWD  Z5, Z4, Z13    \
	VPUNPCKLWD  Z7, Z6, Z14    \
	VPUNPCKHWD  Z7, Z6, Z15    \
	VPUNPCKLDQ  Z10, Z8, Z0    \
	VPUNPCKHDQ  Z10, Z8, Z1    \
	VPUNPCKLDQ  Z11, Z9, Z2    \
	VPUNPCKHDQ  Z11, Z9, Z3    \
	VPUNPCKLDQ  Z14, Z12, Z4   \
	VPUNPCKHDQ  Z14, Z12, Z5   \
	VPUNPCKLDQ  Z15, Z13, Z6   \
	VPUNPCKHDQ  Z15, Z13, Z7   \
	VPUNPCKLQDQ Z4, Z0, Z8     \
	VPUNPCKHQDQ Z4, Z0, Z9     \
	VPUNPCKLQDQ Z5, Z1, Z10    \
	VPUNPCKHQDQ Z5, Z1, Z11    \
	VPUNPCKLQDQ Z6, Z2, Z12    \
	VPUNPCKHQDQ Z6, Z2, Z13    \
	VPUNPCKLQDQ Z7, Z3, Z14    \
	VPUNPCKHQDQ Z7, Z3, Z15

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

// func tile512(dst, src, room, fetch *uint16, to, from, past int)
TEXT ·tile512(SB), NOSPLIT, $0-56
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
	CMPQ  past+48(FP), $0
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

// TERMS adds column k, halves in y and z, times element k of the vector at BX to the sums of 32 rows.
#define TERMS(k, y, z) \
	VCVTPH2PS        y, Z16                  \
	VEXTRACTI64X4    $1, z, Y17              \
	VCVTPH2PS        Y17, Z17                \
	VFMADD231PS.BCST (4*(k))(BX), Z16, Z30     \
	VFMADD231PS.BCST (4*(k))(BX), Z17, Z31

#define EIGHTTERMS(k) \
	TERMS(k+0, Y8, Z8)   \
	TERMS(k+1, Y9, Z9)   \
	TERMS(k+2, Y10, Z10) \
	TERMS(k+3, Y11, Z11) \
	TERMS(k+4, Y12, Z12) \
	TERMS(k+5, Y13, Z13) \
	TERMS(k+6, Y14, Z14) \
	TERMS(k+7, Y15, Z15)

// func dots512(sums *[dotRows]float32, vector *float32, x, room, fetch *fp16.Bits, blocks, stride int)
//
// room has two tiles: the rows of the next one are copied between the columns of this one. fetch is what is read after
// these rows, if it is not 0.
TEXT ·dots512(SB), NOSPLIT, $0-56
	MOVQ    sums+0(FP), DI
	MOVQ    vector+8(FP), BX
	MOVQ    x+16(FP), SI
	MOVQ    room+24(FP), DX
	MOVQ    blocks+40(FP), CX
	MOVQ    fetch+32(FP), R13
	MOVQ    stride+48(FP), R8
	LEAQ    (R8)(R8*2), R9
	LEAQ    2048(DX), R12
	VMOVUPS (DI), Z30
	VMOVUPS 64(DI), Z31
	MOVQ    SI, AX
	MOVQ    DX, R11
	LINES
	LINES
	LINES
	LINES
	JMP     check

next:
	ADDQ $64, SI
	MOVQ SI, AX
	MOVQ R12, R11
	COLUMNS(0)
	NEXT(ahead1, lines1)
	EIGHTTERMS(0)
	COLUMNS(16)
	NEXT(ahead2, lines2)
	EIGHTTERMS(8)
	COLUMNS(32)
	NEXT(ahead3, lines3)
	EIGHTTERMS(16)
	COLUMNS(48)
	NEXT(ahead4, lines4)
	EIGHTTERMS(24)
	ADDQ  $128, BX
	XCHGQ DX, R12

check:
	DECQ CX
	JNE  next
	COLUMNS(0)
	EIGHTTERMS(0)
	COLUMNS(16)
	EIGHTTERMS(8)
	COLUMNS(32)
	EIGHTTERMS(16)
	COLUMNS(48)
	EIGHTTERMS(24)
	VMOVUPS Z30, (DI)
	VMOVUPS Z31, 64(DI)
	VZEROUPPER
	RET
