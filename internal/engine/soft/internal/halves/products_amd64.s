#include "go_asm.h"
#include "textflag.h"

// MULFOUR adds to two registers of each of four sums, with the registers and their size in bytes. Before, CX is the
// blocks of so many columns.
#define MULFOUR(size, V0, V1, V2, V3, V4, V5, V6, V7, L, H, S0, S1, S2, S3) \
	MOVQ sums+0(FP), DI           \
	MOVQ vectors+8(FP), DX        \
	MOVQ x+16(FP), BX             \
	MOVQ rows+32(FP), R9          \
	MOVQ stride+40(FP), R8        \
	MOVQ bySums+48(FP), R10       \
	MOVQ byVectors+56(FP), R11    \
	LEAQ (R10)(R10*2), R12        \
	LEAQ (R11)(R11*2), R13        \
columns:                          \
	VMOVUPS (DI), V0              \
	VMOVUPS size(DI), V1          \
	VMOVUPS (DI)(R10*1), V2       \
	VMOVUPS size(DI)(R10*1), V3   \
	VMOVUPS (DI)(R10*2), V4       \
	VMOVUPS size(DI)(R10*2), V5   \
	VMOVUPS (DI)(R12*1), V6       \
	VMOVUPS size(DI)(R12*1), V7   \
	MOVQ    BX, SI                \
	MOVQ    DX, R15               \
	MOVQ    R9, AX                \
row:                              \
	PREFETCHT0   (SI)(R8*8)       \
	VCVTPH2PS    (SI), L          \
	VCVTPH2PS    (size/2)(SI), H  \
	VBROADCASTSS (R15), S0        \
	VBROADCASTSS (R15)(R11*1), S1 \
	VBROADCASTSS (R15)(R11*2), S2 \
	VBROADCASTSS (R15)(R13*1), S3 \
	VFMADD231PS  L, S0, V0        \
	VFMADD231PS  H, S0, V1        \
	VFMADD231PS  L, S1, V2        \
	VFMADD231PS  H, S1, V3        \
	VFMADD231PS  L, S2, V4        \
	VFMADD231PS  H, S2, V5        \
	VFMADD231PS  L, S3, V6        \
	VFMADD231PS  H, S3, V7        \
	ADDQ         R8, SI           \
	ADDQ         $4, R15          \
	DECQ         AX               \
	JNE          row              \
	VMOVUPS V0, (DI)              \
	VMOVUPS V1, size(DI)          \
	VMOVUPS V2, (DI)(R10*1)       \
	VMOVUPS V3, size(DI)(R10*1)   \
	VMOVUPS V4, (DI)(R10*2)       \
	VMOVUPS V5, size(DI)(R10*2)   \
	VMOVUPS V6, (DI)(R12*1)       \
	VMOVUPS V7, size(DI)(R12*1)   \
	ADDQ    $(2*size), DI         \
	ADDQ    $size, BX             \
	DECQ    CX                    \
	JNE     columns               \
	VZEROUPPER                    \
	RET

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

// func mulFourVector(sums, vectors *float32, x *fp16.Bits, blocks, rows, stride, bySums, byVectors int)
TEXT ·mulFourVector(SB), NOSPLIT, $0-64
	MOVQ blocks+24(FP), CX
	CMPQ ·machine(SB), $const_avx512
	JEQ  wide
	SHLQ $1, CX
	MULFOUR(32, Y0, Y1, Y2, Y3, Y4, Y5, Y6, Y7, Y8, Y9, Y10, Y11, Y12, Y13)

wide:
	JMP mulFour512<>(SB)

TEXT mulFour512<>(SB), NOSPLIT, $0-64
	MULFOUR(64, Z0, Z1, Z2, Z3, Z4, Z5, Z6, Z7, Z8, Z9, Z10, Z11, Z12, Z13)
