#include "textflag.h"

DATA magnitude<>+0(SB)/8, $0x7fffffffffffffff
GLOBL magnitude<>(SB), RODATA|NOPTR, $8

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

#define SUMS \
	VADDPD Y0, Y8, Y8   \
	VADDPD Y1, Y9, Y9   \
	VADDPD Y2, Y10, Y10 \
	VADDPD Y3, Y11, Y11

#define SUMMAGNITUDES \
	VANDPD Y15, Y0, Y0 \
	VANDPD Y15, Y1, Y1 \
	VANDPD Y15, Y2, Y2 \
	VANDPD Y15, Y3, Y3 \
	SUMS

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

// SUMLOOP adds all blocks at SI by ADD.
#define SUMLOOP(name, ADD) \
name:          \
	WIDE       \
	ADD        \
	DECQ CX    \
	JNE  name  \
	STORESUMS  \
	VZEROUPPER \
	RET

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
	SUMLOOP(squares, SQUARES)
	SUMLOOP(magnitudes, SUMMAGNITUDES)
	SUMLOOP(values, SUMS)

// ROWLOOPS adds R9 rows at BX to their sums by ADD, block by block, and fetches the next rows.
#define ROWLOOPS(name, row, ADD) \
name:                                   \
	LOADSUMS                            \
	MOVQ       BX, SI                   \
	MOVQ       R9, AX                   \
row:                                    \
	WIDE                                \
	PREFETCHT0 -32(SI)(R8*8)            \
	LEAQ       -32(SI)(R8*1), SI        \
	ADD                                 \
	DECQ       AX                       \
	JNE        row                      \
	STORESUMS                           \
	ADDQ       $128, DI                 \
	ADDQ       $32, BX                  \
	DECQ       CX                       \
	JNE        name                     \
	VZEROUPPER                          \
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
	ROWLOOPS(squares, squaresRow, SQUARES)
	ROWLOOPS(magnitudes, magnitudesRow, SUMMAGNITUDES)
	ROWLOOPS(values, valuesRow, SUMS)

// NANS sets Y10 where a half in Y0 is a NaN. Y2 is changed.
#define NANS \
	VPAND    Y15, Y0, Y2  \
	VPCMPGTW Y14, Y2, Y2  \
	VPOR     Y2, Y10, Y10

// SPANROWS takes AX rows at SI into the keys in Y8, and fetches the next rows.
#define SPANROWS(row, CHOOSE) \
row:                       \
	PREFETCHT0 (SI)(R8*8)  \
	VMOVDQU    (SI), Y0    \
	NANS                   \
	KEY(Y0, Y1)            \
	CHOOSE     Y0, Y8, Y8  \
	ADDQ       R8, SI      \
	DECQ       AX          \
	JNE        row

// LEAST puts the least unsigned element of y into r. x is its lower half.
#define LEAST(y, x, r) \
	VEXTRACTI128 $1, y, X2 \
	VPMINUW      X2, x, x  \
	VPHMINPOSUW  x, x      \
	VMOVD        x, r      \
	MOVWLZX      r, r

// func spanVector(x *fp16.Bits, blocks int) (low, high int)
TEXT ·spanVector(SB), NOSPLIT, $0-32
	MOVQ     x+0(FP), SI
	MOVQ     blocks+8(FP), CX
	VPCMPEQD Y14, Y14, Y14
	VPSLLW   $15, Y14, Y15
	VPSRLW   $1, Y14, Y14
	VMOVDQU  Y14, Y0
	VMOVDQU  Y15, Y1

span:
	VMOVDQU (SI), Y2
	VPSRAW  $15, Y2, Y3
	VPAND   Y14, Y3, Y3
	VPXOR   Y3, Y2, Y2
	VPMINSW Y2, Y0, Y0
	VPMAXSW Y2, Y1, Y1
	ADDQ    $32, SI
	DECQ    CX
	JNE     span

	VPXOR  Y15, Y0, Y0  // low + 2^15
	VPSUBW Y1, Y14, Y1  // 2^15 - 1 - high
	LEAST(Y0, X0, AX)
	LEAST(Y1, X1, BX)
	SUBQ   $0x8000, AX
	NEGQ   BX
	ADDQ   $0x7fff, BX
	MOVQ   AX, low+16(FP)
	MOVQ   BX, high+24(FP)
	VZEROUPPER
	RET

// func spansVector(keys, nans *int16, x *fp16.Bits, blocks, rows, stride int, least bool)
TEXT ·spansVector(SB), NOSPLIT, $0-49
	MOVQ keys+0(FP), DI
	MOVQ nans+8(FP), DX
	MOVQ x+16(FP), BX
	MOVQ blocks+24(FP), CX
	MOVQ rows+32(FP), R9
	MOVQ stride+40(FP), R8
	CONSTANTS

columns:
	VMOVDQU (DI), Y8
	VMOVDQU (DX), Y10
	MOVQ    BX, SI
	MOVQ    R9, AX
	CMPB    least+48(FP), $0
	JNE     low
	SPANROWS(high, VPMAXSW)
	JMP     next
	SPANROWS(low, VPMINSW)

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
