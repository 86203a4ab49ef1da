#include "textflag.h"

// kernel_asm.go describes the functions. Throughout, DI is C, SI is A, DX is B,
// R8 the bytes between rows of C and of B, R9 those between rows of A, and CX
// counts the rows of B. The sums of a row lie in neighbouring registers. Macros
// take the registers, and their size in bytes.

#define ZERO(V0, V1) \
	VXORPS V0, V0, V0 \
	VXORPS V1, V1, V1

#define ZEROS(V0, V1, V2, V3, V4, V5, V6, V7) \
	ZERO(V0, V1) \
	ZERO(V2, V3) \
	ZERO(V4, V5) \
	ZERO(V6, V7)

// LOADROWS loads two registers of each of 4 rows of C at at. R10 is 3*R8.
#define LOADROWS(at, size, V0, V1, V2, V3, V4, V5, V6, V7) \
	VMOVUPS (at), V0           \
	VMOVUPS size(at), V1       \
	VMOVUPS (at)(R8*1), V2     \
	VMOVUPS size(at)(R8*1), V3 \
	VMOVUPS (at)(R8*2), V4     \
	VMOVUPS size(at)(R8*2), V5 \
	VMOVUPS (at)(R10*1), V6    \
	VMOVUPS size(at)(R10*1), V7

#define STOREROWS(at, size, V0, V1, V2, V3, V4, V5, V6, V7) \
	VMOVUPS V0, (at)           \
	VMOVUPS V1, size(at)       \
	VMOVUPS V2, (at)(R8*1)     \
	VMOVUPS V3, size(at)(R8*1) \
	VMOVUPS V4, (at)(R8*2)     \
	VMOVUPS V5, size(at)(R8*2) \
	VMOVUPS V6, (at)(R10*1)    \
	VMOVUPS V7, size(at)(R10*1)

// ADDROW adds the products of an element of A, spread in s, and a row of B, L and H.
#define ADDROW(at, s, L, H, V0, V1) \
	VBROADCASTSS at, s     \
	VFMADD231PS  L, s, V0  \
	VFMADD231PS  H, s, V1

// ADDROWS does so for 4 rows of A at at. R11 is 3*R9.
#define ADDROWS(at, L, H, S0, S1, S2, S3, V0, V1, V2, V3, V4, V5, V6, V7) \
	ADDROW((at), S0, L, H, V0, V1)       \
	ADDROW((at)(R9*1), S1, L, H, V2, V3) \
	ADDROW((at)(R9*2), S2, L, H, V4, V5) \
	ADDROW((at)(R11*1), S3, L, H, V6, V7)

#define ENTERTILE \
	MOVQ c+0(FP), DI      \
	MOVQ a+8(FP), SI      \
	MOVQ b+16(FP), DX     \
	MOVQ n+24(FP), R8     \
	MOVQ k+32(FP), R9     \
	MOVQ depth+40(FP), CX \
	SHLQ $2, R8           \
	SHLQ $2, R9           \
	LEAQ (R8)(R8*2), R10  \
	LEAQ (R9)(R9*2), R11  \
	CMPB add+48(FP), $0

// func tile(c, a, b *float32, n, k, depth int, add, wide bool)
//
// 4 rows of 16 columns, or 8 rows of 32.
TEXT ·tile(SB), NOSPLIT, $0-50
	CMPB wide+49(FP), $0
	JNE  wide
	ENTERTILE
	JEQ  zero
	LOADROWS(DI, 32, Y0, Y1, Y2, Y3, Y4, Y5, Y6, Y7)
	JMP  step

wide:
	JMP tile512<>(SB)

zero:
	ZEROS(Y0, Y1, Y2, Y3, Y4, Y5, Y6, Y7)

step:
	VMOVUPS (DX), Y8
	VMOVUPS 32(DX), Y9
	ADDROWS(SI, Y8, Y9, Y10, Y11, Y12, Y13, Y0, Y1, Y2, Y3, Y4, Y5, Y6, Y7)
	ADDQ    $4, SI
	ADDQ    R8, DX
	DECQ    CX
	JNE     step
	STOREROWS(DI, 32, Y0, Y1, Y2, Y3, Y4, Y5, Y6, Y7)
	VZEROUPPER
	RET

TEXT tile512<>(SB), NOSPLIT, $0-50
	ENTERTILE
	LEAQ (DI)(R8*4), R12
	LEAQ (SI)(R9*4), R13
	JEQ  zero
	LOADROWS(DI, 64, Z0, Z1, Z2, Z3, Z4, Z5, Z6, Z7)
	LOADROWS(R12, 64, Z8, Z9, Z10, Z11, Z12, Z13, Z14, Z15)
	JMP  step

zero:
	ZEROS(Z0, Z1, Z2, Z3, Z4, Z5, Z6, Z7)
	ZEROS(Z8, Z9, Z10, Z11, Z12, Z13, Z14, Z15)

step:
	VMOVUPS (DX), Z16
	VMOVUPS 64(DX), Z17
	ADDROWS(SI, Z16, Z17, Z18, Z19, Z20, Z21, Z0, Z1, Z2, Z3, Z4, Z5, Z6, Z7)
	ADDROWS(R13, Z16, Z17, Z18, Z19, Z20, Z21, Z8, Z9, Z10, Z11, Z12, Z13, Z14, Z15)
	ADDQ    $4, SI
	ADDQ    $4, R13
	ADDQ    R8, DX
	DECQ    CX
	JNE     step
	STOREROWS(DI, 64, Z0, Z1, Z2, Z3, Z4, Z5, Z6, Z7)
	STOREROWS(R12, 64, Z8, Z9, Z10, Z11, Z12, Z13, Z14, Z15)
	VZEROUPPER
	RET

#define ENTERROW \
	MOVQ c+0(FP), DI      \
	MOVQ a+8(FP), SI      \
	MOVQ b+16(FP), DX     \
	MOVQ n+24(FP), R8     \
	MOVQ depth+32(FP), CX \
	SHLQ $2, R8           \
	CMPB add+40(FP), $0

#define NEXTROW \
	ADDQ $4, SI \
	ADDQ R8, DX \
	DECQ CX

// LINE is one row of two registers.
#define LINE(size, V0, V1, S) \
	ENTERROW                     \
	JEQ         zero             \
	VMOVUPS     (DI), V0         \
	VMOVUPS     size(DI), V1     \
	JMP         step             \
zero:                            \
	ZERO(V0, V1)                 \
step:                            \
	ADDROW((SI), S, (DX), size(DX), V0, V1) \
	NEXTROW                      \
	JNE         step             \
	VMOVUPS     V0, (DI)         \
	VMOVUPS     V1, size(DI)     \
	VZEROUPPER                   \
	RET

// func line(c, a, b *float32, n, depth int, add, wide bool)
TEXT ·line(SB), NOSPLIT, $0-42
	CMPB wide+41(FP), $0
	JNE  wide
	LINE(32, Y0, Y1, Y8)

wide:
	JMP line512<>(SB)

TEXT line512<>(SB), NOSPLIT, $0-42
	LINE(64, Z0, Z1, Z8)

// BAND is one row of eight registers.
#define BAND(size, V0, V1, V2, V3, V4, V5, V6, V7, S) \
	ENTERROW                       \
	JEQ         zero               \
	VMOVUPS     (DI), V0           \
	VMOVUPS     size(DI), V1       \
	VMOVUPS     (2*size)(DI), V2   \
	VMOVUPS     (3*size)(DI), V3   \
	VMOVUPS     (4*size)(DI), V4   \
	VMOVUPS     (5*size)(DI), V5   \
	VMOVUPS     (6*size)(DI), V6   \
	VMOVUPS     (7*size)(DI), V7   \
	JMP         step               \
zero:                              \
	ZEROS(V0, V1, V2, V3, V4, V5, V6, V7) \
step:                              \
	ADDROW((SI), S, (DX), size(DX), V0, V1)  \
	VFMADD231PS (2*size)(DX), S, V2 \
	VFMADD231PS (3*size)(DX), S, V3 \
	VFMADD231PS (4*size)(DX), S, V4 \
	VFMADD231PS (5*size)(DX), S, V5 \
	VFMADD231PS (6*size)(DX), S, V6 \
	VFMADD231PS (7*size)(DX), S, V7 \
	NEXTROW                        \
	JNE         step               \
	VMOVUPS     V0, (DI)           \
	VMOVUPS     V1, size(DI)       \
	VMOVUPS     V2, (2*size)(DI)   \
	VMOVUPS     V3, (3*size)(DI)   \
	VMOVUPS     V4, (4*size)(DI)   \
	VMOVUPS     V5, (5*size)(DI)   \
	VMOVUPS     V6, (6*size)(DI)   \
	VMOVUPS     V7, (7*size)(DI)   \
	VZEROUPPER                     \
	RET

// func band(c, a, b *float32, n, depth int, add, wide bool)
TEXT ·band(SB), NOSPLIT, $0-42
	CMPB wide+41(FP), $0
	JNE  wide
	BAND(32, Y0, Y1, Y2, Y3, Y4, Y5, Y6, Y7, Y8)

wide:
	JMP band512<>(SB)

TEXT band512<>(SB), NOSPLIT, $0-42
	BAND(64, Z0, Z1, Z2, Z3, Z4, Z5, Z6, Z7, Z8)
