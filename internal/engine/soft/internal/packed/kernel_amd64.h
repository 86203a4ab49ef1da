// The registers and steps of the kernels of all widths. Files of one width include it.
//
// kernel_amd64.go describes the functions and type dots. Throughout, Z0 to Z3 are the sums of a row, Z8 is the table of a
// block, Z16 has the numbers of the integers, Z17 ones, Z18, Z19 and Z24 what ROUND needs, and Z20 to Z23 the shifts of the
// four steps of a chunk.

// The fields of dots.
#define SUMS 0
#define DATA_ 8
#define X_ 16
#define SCALE 24
#define HIGH 32
#define UNDER 40
#define OVER 48
#define NUMBERS 56
#define ROWS 64
#define BLOCKS 72
#define CHUNKS 80

// START reads the arguments. R8 is the data, R9 to R12 are the scales and offsets, BX counts the rows.
#define START \
	MOVQ         d+0(FP), AX              \
	MOVQ         SUMS(AX), DI             \
	MOVQ         DATA_(AX), R8            \
	MOVQ         SCALE(AX), R9            \
	MOVQ         HIGH(AX), R10            \
	MOVQ         UNDER(AX), R11           \
	MOVQ         OVER(AX), R12            \
	MOVQ         NUMBERS(AX), DX          \
	VMOVUPS      (DX), Z16                \
	MOVL         $1, DX                   \
	VPBROADCASTD DX, Z17                  \
	MOVL         $0x7F800000, DX          \
	VPBROADCASTD DX, Z18                  \
	MOVL         $0x06C00000, DX          \
	VPBROADCASTD DX, Z19                  \
	MOVL         $0x3F400000, DX          \
	VPBROADCASTD DX, Z24                  \
	MOVQ         ROWS(AX), BX

// ROW begins a row. SI is x, DX counts the blocks.
#define ROW \
	VPXORD Z0, Z0, Z0      \
	VPXORD Z1, Z1, Z1      \
	VPXORD Z2, Z2, Z2      \
	VPXORD Z3, Z3, Z3      \
	MOVQ   X_(AX), SI      \
	MOVQ   BLOCKS(AX), DX

// ROUND rounds Z8 to halves, which are in range: adding and subtracting 1.5 * 2^13 times the power of two in a number
// leaves 11 bits of it, and at least 0.75 leaves multiples of 2^-24.
#define ROUND(r, room) \
	VPANDD  Z18, r, room       \
	VPADDD  Z19, room, room    \
	VPMAXUD Z24, room, room    \
	VADDPS  room, r, r         \
	VSUBPS  room, r, r

// EXACT makes the table of a block: the products are exact in float32.
#define EXACT \
	VBROADCASTSS     (R9), Z8              \
	VFMSUB213PS.BCST (R10), Z16, Z8        \
	ROUND(Z8, Z9)                          \
	ADDQ             $4, R9                \
	ADDQ             $4, R10

// ODD makes the table of a block: what is not exact is rounded to odd before it is rounded to halves.
#define ODD \
	VBROADCASTSS     (R9), Z8              \
	VBROADCASTSS     (R11), Z9             \
	VBROADCASTSS     (R12), Z10            \
	VFMSUB213PS.BCST (R10), Z16, Z8        \
	VSUBPS.RD_SAE    Z10, Z8, Z10          \
	VSUBPS.RU_SAE    Z9, Z8, Z9            \
	VPMINUD          Z9, Z10, Z8           \
	VPORD            Z9, Z10, Z9           \
	VPTERNLOGD       $0xF8, Z17, Z9, Z8    \
	ROUND(Z8, Z9)                          \
	ADDQ             $4, R9                \
	ADDQ             $4, R10               \
	ADDQ             $4, R11               \
	ADDQ             $4, R12

// CHUNK adds the products of 64 integers, whose bits are in Z9.
#define CHUNK \
	VPSRLVD     Z20, Z9, Z10       \
	VPSRLVD     Z21, Z9, Z11       \
	VPSRLVD     Z22, Z9, Z12       \
	VPSRLVD     Z23, Z9, Z13       \
	VPERMPS     Z8, Z10, Z10       \
	VPERMPS     Z8, Z11, Z11       \
	VPERMPS     Z8, Z12, Z12       \
	VPERMPS     Z8, Z13, Z13       \
	VFMADD231PS (SI), Z10, Z0      \
	VFMADD231PS 64(SI), Z11, Z1    \
	VFMADD231PS 128(SI), Z12, Z2   \
	VFMADD231PS 192(SI), Z13, Z3   \
	ADDQ        $256, SI

// STEPS adds the sums of the four steps of a chunk.
#define STEPS \
	VADDPS Z1, Z0, Z0 \
	VADDPS Z3, Z2, Z2 \
	VADDPS Z2, Z0, Z0

// WITHIN adds neighbours among four lanes, then neighbouring pairs.
#define WITHIN \
	VPERMILPS $0xB1, Z0, Z1 \
	VADDPS    Z1, Z0, Z0    \
	VPERMILPS $0x4E, Z0, Z1 \
	VADDPS    Z1, Z0, Z0

// LOW adds neighbouring fours of lanes, UPPER neighbouring eights.
#define LOW \
	VSHUFF32X4 $0xB1, Z0, Z0, Z1 \
	VADDPS     Z1, Z0, Z0
#define UPPER \
	VSHUFF32X4 $0x4E, Z0, Z0, Z1 \
	VADDPS     Z1, Z0, Z0

#define STORE \
	VMOVSS X0, (DI) \
	ADDQ   $4, DI   \
	DECQ   BX

// NUMBER8 moves byte n of each lane of Z9 to number r; left is 24 - 8n. It is signed with VPSRAD.
#define NUMBER8(left, shift, r) \
	VPSLLD    $left, Z9, r \
	shift     $24, r, r    \
	VCVTDQ2PS r, r

#define EXACT8(r, x, sums) \
	VFMSUB213PS Z11, Z8, r    \
	VCVTPS2PH   $0, r, Y25    \
	VCVTPH2PS   Y25, r        \
	VFMADD231PS x(SI), r, sums

#define ODD8(r, x, sums) \
	VFMSUB213PS   Z11, Z8, r       \
	VSUBPS.RD_SAE Z13, r, Z25      \
	VSUBPS.RU_SAE Z12, r, r        \
	VPTESTMD      Z17, Z25, K1     \
	VBLENDMPS     Z25, r, K1, r    \
	ROUND(r, Z25)                  \
	VFMADD231PS   x(SI), r, sums

#define BLOCK8 \
	VBROADCASTSS (R9), Z8   \
	VBROADCASTSS (R10), Z11 \
	ADDQ         $4, R9     \
	ADDQ         $4, R10    \
	MOVQ         CHUNKS(AX), CX

#define OFFSETS8 \
	VBROADCASTSS (R11), Z12 \
	VBROADCASTSS (R12), Z13 \
	ADDQ         $4, R11    \
	ADDQ         $4, R12

#define NUMBERS8(shift) \
	PREFETCHT0 8192(R8)       \
	VMOVDQU32 (R8), Z9        \
	NUMBER8(24, shift, Z4)    \
	NUMBER8(16, shift, Z5)    \
	NUMBER8(8, shift, Z6)     \
	NUMBER8(0, shift, Z7)

#define EXACTS8 \
	EXACT8(Z4, 0, Z0)   \
	EXACT8(Z5, 64, Z1)  \
	EXACT8(Z6, 128, Z2) \
	EXACT8(Z7, 192, Z3) \
	ADDQ $64, R8        \
	ADDQ $256, SI

#define ODDS8 \
	ODD8(Z4, 0, Z0)   \
	ODD8(Z5, 64, Z1)  \
	ODD8(Z6, 128, Z2) \
	ODD8(Z7, 192, Z3) \
	ADDQ $64, R8      \
	ADDQ $256, SI
