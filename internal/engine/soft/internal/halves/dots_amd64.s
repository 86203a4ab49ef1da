#include "go_asm.h"
#include "textflag.h"
#include "tile_amd64.h"

// SIXTEEN writes 16 columns, from byte o on, of the 8 rows at SI and R11 to room at R8. There a column has 64 bytes.
#define SIXTEEN(o) \
	VMOVDQU o(SI), Y0          \
	VMOVDQU o(SI)(R9*1), Y1    \
	VMOVDQU o(SI)(R9*2), Y2    \
	VMOVDQU o(SI)(R10*1), Y3   \
	VMOVDQU o(R11), Y4         \
	VMOVDQU o(R11)(R9*1), Y5   \
	VMOVDQU o(R11)(R9*2), Y6   \
	VMOVDQU o(R11)(R10*1), Y7  \
	UNPACK(Y0, Y1, Y2, Y3, Y4, Y5, Y6, Y7, Y8, Y9, Y10, Y11, Y12, Y13, Y14, Y15) \
	BOTH(32*(o), X8, Y8)       \
	BOTH(32*(o)+64, X9, Y9)    \
	BOTH(32*(o)+128, X10, Y10) \
	BOTH(32*(o)+192, X11, Y11) \
	BOTH(32*(o)+256, X12, Y12) \
	BOTH(32*(o)+320, X13, Y13) \
	BOTH(32*(o)+384, X14, Y14) \
	BOTH(32*(o)+448, X15, Y15)

// BOTH writes a column and the one 8 columns after it.
#define BOTH(o, x, y) \
	VMOVDQU      x, o(R8)           \
	VEXTRACTI128 $1, y, (o+512)(R8)

// COLUMN adds column k of 32 rows, in room, times element k of the vector at DX to the sums in Y12 to Y15.
#define COLUMN(k) \
	VBROADCASTSS (4*(k))(DX), Y4       \
	VCVTPH2PS    (64*(k))(R8), Y0      \
	VCVTPH2PS    (64*(k)+16)(R8), Y1   \
	VCVTPH2PS    (64*(k)+32)(R8), Y2   \
	VCVTPH2PS    (64*(k)+48)(R8), Y3   \
	VFMADD231PS  Y0, Y4, Y12           \
	VFMADD231PS  Y1, Y4, Y13           \
	VFMADD231PS  Y2, Y4, Y14           \
	VFMADD231PS  Y3, Y4, Y15

#define EIGHTCOLUMNS(k) \
	COLUMN(k+0) \
	COLUMN(k+1) \
	COLUMN(k+2) \
	COLUMN(k+3) \
	COLUMN(k+4) \
	COLUMN(k+5) \
	COLUMN(k+6) \
	COLUMN(k+7)

// func dotsVector(sums *[dotRows]float32, vector *float32, x, room, fetch *fp16.Bits, blocks, stride, run int)
//
// 32 rows and columns go through room, so that four chains of sums run at once: one chain of 8 rows waits for its last
// sum. AX is what is left of run.
TEXT ·dotsVector(SB), NOSPLIT, $0-64
	CMPQ ·machine(SB), $const_avx512
	JEQ  wide
	MOVQ sums+0(FP), DI
	MOVQ vector+8(FP), DX
	MOVQ x+16(FP), BX
	MOVQ room+24(FP), R8
	MOVQ fetch+32(FP), R13
	MOVQ blocks+40(FP), CX
	MOVQ stride+48(FP), R9
	MOVQ run+56(FP), AX
	LEAQ (R9)(R9*2), R10
	ADDQ $63, R8 // room is larger
	ANDQ $-64, R8

block:
	MOVQ BX, SI
	MOVQ $4, R12

rows:
	LEAQ  (SI)(R9*4), R11
	TESTQ R13, R13
	JEQ   ahead
	FETCH(R13)
	SUBQ  $512, AX
	JG    fetched
	ADDQ  run+56(FP), AX
	SUBQ  run+56(FP), R13
	ADDQ  R9, R13
	JMP   fetched

ahead:
	PREFETCHT1 512(SI)
	PREFETCHT1 512(SI)(R9*1)
	PREFETCHT1 512(SI)(R9*2)
	PREFETCHT1 512(SI)(R10*1)
	PREFETCHT1 512(R11)
	PREFETCHT1 512(R11)(R9*1)
	PREFETCHT1 512(R11)(R9*2)
	PREFETCHT1 512(R11)(R10*1)

fetched:
	SIXTEEN(0)
	SIXTEEN(32)
	ADDQ $16, R8
	LEAQ (SI)(R9*8), SI
	DECQ R12
	JNE  rows

	SUBQ    $64, R8
	VMOVUPS (DI), Y12
	VMOVUPS 32(DI), Y13
	VMOVUPS 64(DI), Y14
	VMOVUPS 96(DI), Y15
	EIGHTCOLUMNS(0)
	EIGHTCOLUMNS(8)
	EIGHTCOLUMNS(16)
	EIGHTCOLUMNS(24)
	VMOVUPS Y12, (DI)
	VMOVUPS Y13, 32(DI)
	VMOVUPS Y14, 64(DI)
	VMOVUPS Y15, 96(DI)
	ADDQ $128, DX
	ADDQ $64, BX
	DECQ CX
	JNE  block
	VZEROUPPER
	RET

wide:
	JMP dots512<>(SB)

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

// dots512 is dotsVector with AVX-512.
//
// room has two tiles: the rows of the next one are copied between the columns of this one. fetch is what is read after
// these rows, if it is not 0.
TEXT dots512<>(SB), NOSPLIT, $0-64
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
