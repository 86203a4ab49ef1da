#include "go_asm.h"
#include "textflag.h"

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

// mulFour512 is mulFourVector with AVX-512.
TEXT mulFour512<>(SB), NOSPLIT, $0-64
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

// func mulFourVector(sums, vectors *float32, x *fp16.Bits, blocks, rows, stride, bySums, byVectors int)
TEXT ·mulFourVector(SB), NOSPLIT, $0-64
	CMPQ ·machine(SB), $const_avx512
	JEQ  wide
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
	SHLQ $1, CX

columns:
	VMOVUPS (DI), Y0
	VMOVUPS 32(DI), Y1
	VMOVUPS (DI)(R10*1), Y2
	VMOVUPS 32(DI)(R10*1), Y3
	VMOVUPS (DI)(R10*2), Y4
	VMOVUPS 32(DI)(R10*2), Y5
	VMOVUPS (DI)(R12*1), Y6
	VMOVUPS 32(DI)(R12*1), Y7
	MOVQ    BX, SI
	MOVQ    DX, R15
	MOVQ    R9, AX

row:
	PREFETCHT0   (SI)(R8*8)           // of the next rows
	VCVTPH2PS    (SI), Y8
	VCVTPH2PS    16(SI), Y9
	VBROADCASTSS (R15), Y10
	VBROADCASTSS (R15)(R11*1), Y11
	VBROADCASTSS (R15)(R11*2), Y12
	VBROADCASTSS (R15)(R13*1), Y13
	VFMADD231PS  Y8, Y10, Y0
	VFMADD231PS  Y9, Y10, Y1
	VFMADD231PS  Y8, Y11, Y2
	VFMADD231PS  Y9, Y11, Y3
	VFMADD231PS  Y8, Y12, Y4
	VFMADD231PS  Y9, Y12, Y5
	VFMADD231PS  Y8, Y13, Y6
	VFMADD231PS  Y9, Y13, Y7
	ADDQ         R8, SI
	ADDQ         $4, R15
	DECQ         AX
	JNE          row

	VMOVUPS Y0, (DI)
	VMOVUPS Y1, 32(DI)
	VMOVUPS Y2, (DI)(R10*1)
	VMOVUPS Y3, 32(DI)(R10*1)
	VMOVUPS Y4, (DI)(R10*2)
	VMOVUPS Y5, 32(DI)(R10*2)
	VMOVUPS Y6, (DI)(R12*1)
	VMOVUPS Y7, 32(DI)(R12*1)
	ADDQ    $64, DI
	ADDQ    $32, BX
	DECQ    CX
	JNE     columns
	VZEROUPPER
	RET

wide:
	JMP mulFour512<>(SB)
