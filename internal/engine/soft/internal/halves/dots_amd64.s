#include "go_asm.h"
#include "textflag.h"
#include "tile_amd64.h"

// TERM adds column k of 8 rows, halves in x, times element k of the vector at DX to Y0.
#define TERM(k, x) \
	VCVTPH2PS    x, Y1       \
	VBROADCASTSS (4*(k))(DX), Y2 \
	VFMADD231PS  Y1, Y2, Y0

// func dotsVector(sums *[dotRows]float32, vector *float32, x, room, fetch *fp16.Bits, blocks, stride int)
//
// Eight rows have 32 columns each before the next eight.
TEXT ·dotsVector(SB), NOSPLIT, $0-56
	CMPQ ·machine(SB), $const_avx512
	JEQ  wide
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
TEXT dots512<>(SB), NOSPLIT, $0-56
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
