#include "textflag.h"

// kernel_amd64.go describes the functions and type dots. Throughout, Z0 to Z3 are the sums of a row, Z8 is the table of a
// block, Z16 has the numbers of the integers, Z17 ones, Z18, Z19 and Z24 what ROUND needs, and Z20 to Z23 the shifts of the
// four steps of a chunk.

DATA shifts<>+0x00(SB)/8, $0x0000000000000000
DATA shifts<>+0x08(SB)/8, $0x0000000000000000
DATA shifts<>+0x10(SB)/8, $0x0000000000000000
DATA shifts<>+0x18(SB)/8, $0x0000000000000000
DATA shifts<>+0x20(SB)/8, $0x0000001000000010
DATA shifts<>+0x28(SB)/8, $0x0000001000000010
DATA shifts<>+0x30(SB)/8, $0x0000001000000010
DATA shifts<>+0x38(SB)/8, $0x0000001000000010
DATA shifts<>+0x40(SB)/8, $0x0000000000000000
DATA shifts<>+0x48(SB)/8, $0x0000000000000000
DATA shifts<>+0x50(SB)/8, $0x0000000800000008
DATA shifts<>+0x58(SB)/8, $0x0000000800000008
DATA shifts<>+0x60(SB)/8, $0x0000001000000010
DATA shifts<>+0x68(SB)/8, $0x0000001000000010
DATA shifts<>+0x70(SB)/8, $0x0000001800000018
DATA shifts<>+0x78(SB)/8, $0x0000001800000018
GLOBL shifts<>(SB), RODATA|NOPTR, $128

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

#define SHIFTS4 \
	VMOVDQU32 shifts<>+0(SB), Z20 \
	MOVL      $4, DX              \
	VPBROADCASTD DX, Z10          \
	VPADDD    Z10, Z20, Z21       \
	VPADDD    Z10, Z21, Z22       \
	VPADDD    Z10, Z22, Z23

#define SHIFTS2 \
	VMOVDQU32 shifts<>+64(SB), Z20 \
	MOVL      $2, DX               \
	VPBROADCASTD DX, Z10           \
	VPADDD    Z10, Z20, Z21        \
	VPADDD    Z10, Z21, Z22        \
	VPADDD    Z10, Z22, Z23

// func dotsExact4(d *dots)
TEXT ·dotsExact4(SB), NOSPLIT, $0-8
	SHIFTS4
	START

row:
	ROW

block:
	EXACT
	MOVQ CHUNKS(AX), CX

chunk:
	PREFETCHT0      8192(R8)
	VBROADCASTI64X4 (R8), Z9
	CHUNK
	ADDQ $32, R8
	DECQ CX
	JNE  chunk
	DECQ DX
	JNE  block
	STEPS
	UPPER
	WITHIN
	LOW
	STORE
	JNE  row
	VZEROUPPER
	RET

// STEP2 adds the products of one step of a chunk of two rows.
#define STEP2(x, shift, a, b) \
	VPSRLVD     shift, Z9, Z10   \
	VPSRLVD     shift, Z29, Z11  \
	VMOVUPS     x(SI), Z12       \
	VPERMPS     Z8, Z10, Z10     \
	VPERMPS     Z28, Z11, Z11    \
	VFMADD231PS Z12, Z10, a      \
	VFMADD231PS Z12, Z11, b

// func dotsPairs4(d *dots)
//
// dotsExact4 for two rows at a time, so that each reads x once: Z4 to Z7 are the sums of the second, Z28 is its table.
TEXT ·dotsPairs4(SB), NOSPLIT, $0-8
	SHIFTS4
	START
	SHRQ $1, BX
	MOVQ BLOCKS(AX), R13
	MOVQ R13, R12
	IMULQ CHUNKS(AX), R12
	SHLQ $5, R12                  // bytes of a row
	SHLQ $2, R13                  // and of its scales

row:
	ROW
	VPXORD Z4, Z4, Z4
	VPXORD Z5, Z5, Z5
	VPXORD Z6, Z6, Z6
	VPXORD Z7, Z7, Z7

block:
	VBROADCASTSS     (R9), Z8
	VBROADCASTSS     (R9)(R13*1), Z28
	VFMSUB213PS.BCST (R10), Z16, Z8
	VFMSUB213PS.BCST (R10)(R13*1), Z16, Z28
	ROUND(Z8, Z9)
	ROUND(Z28, Z29)
	ADDQ             $4, R9
	ADDQ             $4, R10
	MOVQ             CHUNKS(AX), CX

chunk:
	PREFETCHT0      8192(R8)
	PREFETCHT0      8192(R8)(R12*1)
	VBROADCASTI64X4 (R8), Z9
	VBROADCASTI64X4 (R8)(R12*1), Z29
	STEP2(0, Z20, Z0, Z4)
	STEP2(64, Z21, Z1, Z5)
	STEP2(128, Z22, Z2, Z6)
	STEP2(192, Z23, Z3, Z7)
	ADDQ            $256, SI
	ADDQ            $32, R8
	DECQ            CX
	JNE             chunk
	DECQ            DX
	JNE             block
	STEPS
	UPPER
	WITHIN
	LOW
	VMOVSS          X0, (DI)
	VADDPS          Z5, Z4, Z4
	VADDPS          Z7, Z6, Z6
	VADDPS          Z6, Z4, Z0
	UPPER
	WITHIN
	LOW
	VMOVSS          X0, 4(DI)
	ADDQ            $8, DI
	ADDQ            R12, R8
	ADDQ            R13, R9
	ADDQ            R13, R10
	DECQ            BX
	JNE             row
	VZEROUPPER
	RET

// func dotsOdd4(d *dots)
TEXT ·dotsOdd4(SB), NOSPLIT, $0-8
	SHIFTS4
	START

row:
	ROW

block:
	ODD
	MOVQ CHUNKS(AX), CX

chunk:
	PREFETCHT0      8192(R8)
	VBROADCASTI64X4 (R8), Z9
	CHUNK
	ADDQ $32, R8
	DECQ CX
	JNE  chunk
	DECQ DX
	JNE  block
	STEPS
	UPPER
	WITHIN
	LOW
	STORE
	JNE  row
	VZEROUPPER
	RET

// TWO makes the tables of two blocks, of the first in Z26 and of the second in Z8.
#define TWO(make) \
	make           \
	VMOVAPS Z8, Z26 \
	make

// LOOK is the elements of integers of two blocks: bit 4 of an index chooses the table.
#define LOOK(shift, to) \
	VPSRLVD    shift, Z9, to        \
	VPTERNLOGD $0xEA, Z27, Z25, to  \
	VPERMI2PS  Z8, Z26, to

// CHUNK32 adds the products of 64 integers of two blocks, whose bits are in Z9.
#define CHUNK32 \
	LOOK(Z20, Z10)                 \
	LOOK(Z21, Z11)                 \
	LOOK(Z22, Z12)                 \
	LOOK(Z23, Z13)                 \
	VFMADD231PS (SI), Z10, Z0      \
	VFMADD231PS 64(SI), Z11, Z1    \
	VFMADD231PS 128(SI), Z12, Z2   \
	VFMADD231PS 192(SI), Z13, Z3   \
	ADDQ        $256, SI

// SECOND sets Z25 to the bits of an integer and Z27 to bit 4 in the lanes of the second block.
#define SECOND \
	MOVL         $15, DX               \
	VPBROADCASTD DX, Z25               \
	VMOVDQU32    shifts<>+0(SB), Z27   \
	VSHUFI32X4   $0x88, Z27, Z27, Z27

// func dotsExact4Wide32(d *dots)
TEXT ·dotsExact4Wide32(SB), NOSPLIT, $0-8
	SHIFTS4
	SECOND
	START

row:
	ROW

block:
	TWO(EXACT)
	PREFETCHT0      8192(R8)
	VBROADCASTI64X4 (R8), Z9
	CHUNK32
	ADDQ $32, R8
	DECQ DX
	JNE  block
	STEPS
	UPPER
	WITHIN
	LOW
	STORE
	JNE  row
	VZEROUPPER
	RET

// func dotsOdd4Wide32(d *dots)
TEXT ·dotsOdd4Wide32(SB), NOSPLIT, $0-8
	SHIFTS4
	SECOND
	START

row:
	ROW

block:
	TWO(ODD)
	PREFETCHT0      8192(R8)
	VBROADCASTI64X4 (R8), Z9
	CHUNK32
	ADDQ $32, R8
	DECQ DX
	JNE  block
	STEPS
	UPPER
	WITHIN
	LOW
	STORE
	JNE  row
	VZEROUPPER
	RET

// func dotsExact2(d *dots)
TEXT ·dotsExact2(SB), NOSPLIT, $0-8
	SHIFTS2
	START

row:
	ROW

block:
	EXACT
	MOVQ CHUNKS(AX), CX

chunk:
	PREFETCHT0      8192(R8)
	VBROADCASTI32X4 (R8), Z9
	CHUNK
	ADDQ $16, R8
	DECQ CX
	JNE  chunk
	DECQ DX
	JNE  block
	STEPS
	LOW
	UPPER
	WITHIN
	STORE
	JNE  row
	VZEROUPPER
	RET

// func dotsOdd2(d *dots)
TEXT ·dotsOdd2(SB), NOSPLIT, $0-8
	SHIFTS2
	START

row:
	ROW

block:
	ODD
	MOVQ CHUNKS(AX), CX

chunk:
	PREFETCHT0      8192(R8)
	VBROADCASTI32X4 (R8), Z9
	CHUNK
	ADDQ $16, R8
	DECQ CX
	JNE  chunk
	DECQ DX
	JNE  block
	STEPS
	LOW
	UPPER
	WITHIN
	STORE
	JNE  row
	VZEROUPPER
	RET

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

// func dotsExact8(d *dots, signed bool)
TEXT ·dotsExact8(SB), NOSPLIT, $0-9
	START
	CMPB signed+8(FP), $0
	JNE  row

rowU:
	ROW

blockU:
	BLOCK8

chunkU:
	NUMBERS8(VPSRLD)
	EXACTS8
	DECQ CX
	JNE  chunkU
	DECQ DX
	JNE  blockU
	STEPS
	WITHIN
	LOW
	UPPER
	STORE
	JNE  rowU
	VZEROUPPER
	RET

row:
	ROW

block:
	BLOCK8

chunk:
	NUMBERS8(VPSRAD)
	EXACTS8
	DECQ CX
	JNE  chunk
	DECQ DX
	JNE  block
	STEPS
	WITHIN
	LOW
	UPPER
	STORE
	JNE  row
	VZEROUPPER
	RET

// func dotsOdd8(d *dots, signed bool)
TEXT ·dotsOdd8(SB), NOSPLIT, $0-9
	START
	CMPB signed+8(FP), $0
	JNE  row

rowU:
	ROW

blockU:
	BLOCK8
	OFFSETS8

chunkU:
	NUMBERS8(VPSRLD)
	ODDS8
	DECQ CX
	JNE  chunkU
	DECQ DX
	JNE  blockU
	STEPS
	WITHIN
	LOW
	UPPER
	STORE
	JNE  rowU
	VZEROUPPER
	RET

row:
	ROW

block:
	BLOCK8
	OFFSETS8

chunk:
	NUMBERS8(VPSRAD)
	ODDS8
	DECQ CX
	JNE  chunk
	DECQ DX
	JNE  block
	STEPS
	WITHIN
	LOW
	UPPER
	STORE
	JNE  row
	VZEROUPPER
	RET

// The fields of parts.
#define P_SCALE 0
#define P_HALF 8
#define P_SINGLE 16
#define P_BYTES 24
#define P_SIGNED 32
#define P_COUNT 40
#define P_TO 48
#define P_STRIDE 56
#define P_MAGIC 64
#define P_MOST 68
#define P_UNIT 72
#define P_LEAST 76
#define P_TOP 80
#define P_WIDE 84
#define P_FULL 88

// func split(p *parts) (wrong, inexact bool)
TEXT ·split(SB), NOSPLIT, $0-10
	MOVQ         p+0(FP), AX
	MOVQ         P_SCALE(AX), SI
	MOVQ         P_HALF(AX), R8
	MOVQ         P_SINGLE(AX), R9
	MOVQ         P_BYTES(AX), R10
	MOVQ         P_SIGNED(AX), R11
	MOVQ         P_COUNT(AX), CX
	MOVQ         P_TO(AX), DI
	MOVQ         P_STRIDE(AX), R12
	LEAQ         (DI)(R12*2), R13
	VBROADCASTSS P_MAGIC(AX), Z16
	VBROADCASTSS P_MOST(AX), Z17
	VBROADCASTSS P_UNIT(AX), Z23
	VBROADCASTSS P_LEAST(AX), Z24
	VBROADCASTSS P_TOP(AX), Z25
	VBROADCASTSS P_WIDE(AX), Z26
	MOVL         P_FULL(AX), AX
	KMOVW        AX, K6
	MOVL         $0x7F800000, AX
	VPBROADCASTD AX, Z18
	MOVL         $0x7FFFFFFF, AX
	VPBROADCASTD AX, Z19
	MOVL         $0x477FE000, AX          // 65504
	VPBROADCASTD AX, Z20
	MOVL         $0x12800000, AX          // 2^-90
	VPBROADCASTD AX, Z21
	VPXORD       Z22, Z22, Z22
	XORL         BX, BX                   // wrong
	XORL         R15, R15                 // inexact
	MOVL         $0xFFFF, DX
	KMOVW        DX, K7

next:
	CMPQ  CX, $16
	JGE   whole
	MOVL  $1, DX
	SHLL  CX, DX
	DECL  DX
	KMOVW DX, K7

whole:
	PREFETCHT0  4096(SI)
	VCVTPH2PS.Z (SI), K7, Z0
	ADDQ        $32, SI
	VPXORD      Z1, Z1, Z1
	TESTQ       R8, R8
	JNE         half
	TESTQ       R9, R9
	JNE         single
	TESTQ       R10, R10
	JEQ         known
	TESTQ       R11, R11
	JNE         signed
	VPMOVZXBD.Z (R10), K7, Z1
	JMP         integer

signed:
	VPMOVSXBD.Z (R10), K7, Z1

integer:
	VCVTDQ2PS Z1, Z1
	ADDQ      $16, R10
	JMP       known

half:
	PREFETCHT0  4096(R8)
	VCVTPH2PS.Z (R8), K7, Z1
	ADDQ        $32, R8
	JMP         known

single:
	PREFETCHT0 8192(R9)
	VMOVUPS.Z (R9), K7, Z1
	ADDQ      $64, R9

known:
	VPANDD        Z19, Z0, Z2
	VPANDD        Z19, Z1, Z3
	VCMPPS        $0x16, Z17, Z3, K2        // the offset is above most
	VCMPPS        $0x11, Z21, Z3, K3        // it is below 2^-90, and not 0
	VCMPPS        $0x04, Z22, Z3, K3, K3
	KORW          K3, K2, K2
	VADDPS        Z17, Z3, Z3               // most is more than an integer
	VMULPS        Z3, Z2, Z2
	VCMPPS        $0x16, Z20, Z2, K1        // an element may be above 65504
	KORW          K1, K2, K2
	KMOVW         K2, DX
	ORL           DX, BX
	VMULPS        Z23, Z1, Z2               // the offset has a bit below the unit
	VRNDSCALEPS   $0, Z2, Z3
	VCMPPS        $0x04, Z3, Z2, K1
	VSUBPS        Z1, Z24, Z2               // it is far from an integer
	VSUBPS        Z1, Z25, Z3
	VPANDD        Z19, Z2, Z2
	VPANDD        Z19, Z3, Z3
	VMAXPS        Z3, Z2, Z2
	VCMPPS        $0x16, Z26, Z2, K2
	KORW          K1, K2, K2
	KMOVW         K2, DX
	ORL           DX, R15
	VMULPS        Z0, Z1, Z4
	VMOVUPS       Z0, (DI)
	VMOVUPS       Z4, (DI)(R12*1)
	KTESTW        K6, K6
	JEQ           done
	VMOVAPS       Z1, Z5                    // what rounding took of the product
	VFMSUB213PS   Z4, Z0, Z5
	VPANDD        Z18, Z0, Z6
	VMULPS        Z16, Z6, Z6
	VADDPS        Z6, Z4, Z7
	VSUBPS        Z6, Z7, Z7
	VMOVUPS       Z7, (R13)
	VSUBPS        Z7, Z4, Z4
	VADDPS.RD_SAE Z5, Z4, Z8
	VADDPS.RU_SAE Z5, Z4, Z9
	VMOVUPS       Z8, (R13)(R12*1)
	VMOVUPS       Z9, (R13)(R12*2)

done:
	ADDQ          $64, DI
	ADDQ          $64, R13
	SUBQ          $16, CX
	JG            next
	TESTL         BX, BX
	SETNE         wrong+8(FP)
	TESTL         R15, R15
	SETNE         inexact+9(FP)
	VZEROUPPER
	RET

// The lanes of the integers of 4 and of 2 bits, and whose dword a lane reads.
DATA lanes<>+0x00(SB)/8, $0x0000000400000000
DATA lanes<>+0x08(SB)/8, $0x0000000c00000008
DATA lanes<>+0x10(SB)/8, $0x0000001400000010
DATA lanes<>+0x18(SB)/8, $0x0000001c00000018
DATA lanes<>+0x20(SB)/8, $0x0000000400000000
DATA lanes<>+0x28(SB)/8, $0x0000000c00000008
DATA lanes<>+0x30(SB)/8, $0x0000001400000010
DATA lanes<>+0x38(SB)/8, $0x0000001c00000018
DATA lanes<>+0x40(SB)/8, $0x0000000200000000
DATA lanes<>+0x48(SB)/8, $0x0000000600000004
DATA lanes<>+0x50(SB)/8, $0x0000000a00000008
DATA lanes<>+0x58(SB)/8, $0x0000000e0000000c
DATA lanes<>+0x60(SB)/8, $0x0000001200000010
DATA lanes<>+0x68(SB)/8, $0x0000001600000014
DATA lanes<>+0x70(SB)/8, $0x0000001a00000018
DATA lanes<>+0x78(SB)/8, $0x0000001e0000001c
DATA lanes<>+0x80(SB)/8, $0x0000000000000000
DATA lanes<>+0x88(SB)/8, $0x0000000000000000
DATA lanes<>+0x90(SB)/8, $0x0000000000000000
DATA lanes<>+0x98(SB)/8, $0x0000000000000000
DATA lanes<>+0xa0(SB)/8, $0x0000000100000001
DATA lanes<>+0xa8(SB)/8, $0x0000000100000001
DATA lanes<>+0xb0(SB)/8, $0x0000000100000001
DATA lanes<>+0xb8(SB)/8, $0x0000000100000001
GLOBL lanes<>(SB), RODATA|NOPTR, $192

// Dwords, and bytes of four dwords, of integers of 3 bits: 6 bytes for four lanes, which begin at byte 0, or at byte 2 of
// a dword. The lanes are shifted by 0 and 4 bits.
DATA threes<>+0x00(SB)/8, $0x0000000100000000
DATA threes<>+0x08(SB)/8, $0x0000000000000000
DATA threes<>+0x10(SB)/8, $0x0000000200000001
DATA threes<>+0x18(SB)/8, $0x0000000000000000
DATA threes<>+0x20(SB)/8, $0x0000000400000003
DATA threes<>+0x28(SB)/8, $0x0000000000000000
DATA threes<>+0x30(SB)/8, $0x0000000500000004
DATA threes<>+0x38(SB)/8, $0x0000000000000000
DATA threes<>+0x40(SB)/8, $0x8080020180800100
DATA threes<>+0x48(SB)/8, $0x8080050480800403
DATA threes<>+0x50(SB)/8, $0x8080040380800302
DATA threes<>+0x58(SB)/8, $0x8080070680800605
DATA threes<>+0x60(SB)/8, $0x8080020180800100
DATA threes<>+0x68(SB)/8, $0x8080050480800403
DATA threes<>+0x70(SB)/8, $0x8080040380800302
DATA threes<>+0x78(SB)/8, $0x8080070680800605
DATA threes<>+0x80(SB)/8, $0x0000000400000000
DATA threes<>+0x88(SB)/8, $0x0000000400000000
DATA threes<>+0x90(SB)/8, $0x0000000400000000
DATA threes<>+0x98(SB)/8, $0x0000000400000000
DATA threes<>+0xa0(SB)/8, $0x0000000400000000
DATA threes<>+0xa8(SB)/8, $0x0000000400000000
DATA threes<>+0xb0(SB)/8, $0x0000000400000000
DATA threes<>+0xb8(SB)/8, $0x0000000400000000
GLOBL threes<>(SB), RODATA|NOPTR, $192

// The same for integers of 6 bits: 12 bytes for four lanes.
DATA sixes<>+0x00(SB)/8, $0x0000000100000000
DATA sixes<>+0x08(SB)/8, $0x0000000000000002
DATA sixes<>+0x10(SB)/8, $0x0000000400000003
DATA sixes<>+0x18(SB)/8, $0x0000000000000005
DATA sixes<>+0x20(SB)/8, $0x0000000700000006
DATA sixes<>+0x28(SB)/8, $0x0000000000000008
DATA sixes<>+0x30(SB)/8, $0x0000000a00000009
DATA sixes<>+0x38(SB)/8, $0x000000000000000b
DATA sixes<>+0x40(SB)/8, $0x8005040380020100
DATA sixes<>+0x48(SB)/8, $0x800b0a0980080706
DATA sixes<>+0x50(SB)/8, $0x8005040380020100
DATA sixes<>+0x58(SB)/8, $0x800b0a0980080706
DATA sixes<>+0x60(SB)/8, $0x8005040380020100
DATA sixes<>+0x68(SB)/8, $0x800b0a0980080706
DATA sixes<>+0x70(SB)/8, $0x8005040380020100
DATA sixes<>+0x78(SB)/8, $0x800b0a0980080706
GLOBL sixes<>(SB), RODATA|NOPTR, $128

#define SHIFTS3 \
	VMOVDQU32    threes<>+128(SB), Z20 \
	MOVL         $3, DX                \
	VPBROADCASTD DX, Z10               \
	VPADDD       Z10, Z20, Z21         \
	VPADDD       Z10, Z21, Z22         \
	VPADDD       Z10, Z22, Z23         \
	VMOVDQU32    threes<>+0(SB), Z26   \
	VMOVDQU8     threes<>+64(SB), Z27  \
	MOVL         $0x3F, DX             \
	KMOVW        DX, K2

// SPREAD3 reads the 24 bytes of a chunk, four integers to a lane.
#define SPREAD3 \
	PREFETCHT0  8192(R8)     \
	VMOVDQU32.Z (R8), K2, Z9 \
	VPERMD      Z9, Z26, Z9  \
	VPSHUFB     Z27, Z9, Z9  \
	ADDQ        $24, R8

// func dotsExact3(d *dots)
TEXT ·dotsExact3(SB), NOSPLIT, $0-8
	SHIFTS3
	START

row:
	ROW

block:
	EXACT
	MOVQ CHUNKS(AX), CX

chunk:
	SPREAD3
	CHUNK
	DECQ CX
	JNE  chunk
	DECQ DX
	JNE  block
	STEPS
	WITHIN
	LOW
	UPPER
	STORE
	JNE  row
	VZEROUPPER
	RET

// func dotsOdd3(d *dots)
TEXT ·dotsOdd3(SB), NOSPLIT, $0-8
	SHIFTS3
	START

row:
	ROW

block:
	ODD
	MOVQ CHUNKS(AX), CX

chunk:
	SPREAD3
	CHUNK
	DECQ CX
	JNE  chunk
	DECQ DX
	JNE  block
	STEPS
	WITHIN
	LOW
	UPPER
	STORE
	JNE  row
	VZEROUPPER
	RET

#define SETUP6 \
	VMOVDQU32 sixes<>+0(SB), Z26  \
	VMOVDQU8  sixes<>+64(SB), Z27 \
	MOVL      $0xFFF, DX          \
	KMOVW     DX, K2

// NUMBER6 moves integer n of each lane of Z9 to number r; left is 26 - 6n.
#define NUMBER6(left, shift, r) \
	VPSLLD    $left, Z9, r \
	shift     $26, r, r    \
	VCVTDQ2PS r, r

#define NUMBERS6(shift) \
	PREFETCHT0  8192(R8)     \
	VMOVDQU32.Z (R8), K2, Z9 \
	VPERMD      Z9, Z26, Z9  \
	VPSHUFB     Z27, Z9, Z9  \
	NUMBER6(26, shift, Z4)   \
	NUMBER6(20, shift, Z5)   \
	NUMBER6(14, shift, Z6)   \
	NUMBER6(8, shift, Z7)

// EXACTS8 and ODDS8 go on by 64 bytes, and a chunk has 48.
#define BACK6 SUBQ $16, R8

// func dotsExact6(d *dots)
TEXT ·dotsExact6(SB), NOSPLIT, $0-8
	SETUP6
	START

row:
	ROW

block:
	BLOCK8

chunk:
	NUMBERS6(VPSRLD)
	EXACTS8
	BACK6
	DECQ CX
	JNE  chunk
	DECQ DX
	JNE  block
	STEPS
	WITHIN
	LOW
	UPPER
	STORE
	JNE  row
	VZEROUPPER
	RET

// func dotsOdd6(d *dots)
TEXT ·dotsOdd6(SB), NOSPLIT, $0-8
	SETUP6
	START

row:
	ROW

block:
	BLOCK8
	OFFSETS8

chunk:
	NUMBERS6(VPSRLD)
	ODDS8
	BACK6
	DECQ CX
	JNE  chunk
	DECQ DX
	JNE  block
	STEPS
	WITHIN
	LOW
	UPPER
	STORE
	JNE  row
	VZEROUPPER
	RET

// func expand4(d *dots)
TEXT ·expand4(SB), NOSPLIT, $0-8
	VMOVDQU32 lanes<>+0(SB), Z20
	VMOVDQU32 lanes<>+128(SB), Z21
	START
	MOVQ      BLOCKS(AX), DX

block:
	ODD
	MOVQ CHUNKS(AX), CX

chunk:
	VPBROADCASTQ (R8), Z9
	VPERMD       Z9, Z21, Z9
	VPSRLVD      Z20, Z9, Z9
	VPERMPS      Z8, Z9, Z9
	VMOVUPS      Z9, (DI)
	ADDQ         $8, R8
	ADDQ         $64, DI
	DECQ         CX
	JNE          chunk
	DECQ         DX
	JNE          block
	VZEROUPPER
	RET

// func expand2(d *dots)
TEXT ·expand2(SB), NOSPLIT, $0-8
	VMOVDQU32 lanes<>+64(SB), Z20
	START
	MOVQ      BLOCKS(AX), DX

block:
	ODD
	MOVQ CHUNKS(AX), CX

chunk:
	VPBROADCASTD (R8), Z9
	VPSRLVD      Z20, Z9, Z9
	VPERMPS      Z8, Z9, Z9
	VMOVUPS      Z9, (DI)
	ADDQ         $4, R8
	ADDQ         $64, DI
	DECQ         CX
	JNE          chunk
	DECQ         DX
	JNE          block
	VZEROUPPER
	RET

#define EXPAND8(load) \
	load          (R8), Z4          \
	VCVTDQ2PS     Z4, Z4            \
	VFMSUB213PS   Z11, Z8, Z4       \
	VSUBPS.RD_SAE Z13, Z4, Z25      \
	VSUBPS.RU_SAE Z12, Z4, Z4       \
	VPTESTMD      Z17, Z25, K1      \
	VBLENDMPS     Z25, Z4, K1, Z4   \
	ROUND(Z4, Z25)                  \
	VMOVUPS       Z4, (DI)          \
	ADDQ          $16, R8           \
	ADDQ          $64, DI

// func expand8(d *dots, signed bool)
TEXT ·expand8(SB), NOSPLIT, $0-9
	START
	MOVQ BLOCKS(AX), DX
	CMPB signed+8(FP), $0
	JNE  block

blockU:
	BLOCK8
	OFFSETS8

chunkU:
	EXPAND8(VPMOVZXBD)
	DECQ CX
	JNE  chunkU
	DECQ DX
	JNE  blockU
	VZEROUPPER
	RET

block:
	BLOCK8
	OFFSETS8

chunk:
	EXPAND8(VPMOVSXBD)
	DECQ CX
	JNE  chunk
	DECQ DX
	JNE  block
	VZEROUPPER
	RET

// func dotFloats(lanes *[64]float32, a, b *float32, chunks int)
TEXT ·dotFloats(SB), NOSPLIT, $0-32
	MOVQ    lanes+0(FP), DI
	MOVQ    a+8(FP), SI
	MOVQ    b+16(FP), DX
	MOVQ    chunks+24(FP), CX
	VMOVUPS (DI), Z0
	VMOVUPS 64(DI), Z1
	VMOVUPS 128(DI), Z2
	VMOVUPS 192(DI), Z3

next:
	VMOVUPS     (SI), Z4
	VMOVUPS     64(SI), Z5
	VMOVUPS     128(SI), Z6
	VMOVUPS     192(SI), Z7
	VFMADD231PS (DX), Z4, Z0
	VFMADD231PS 64(DX), Z5, Z1
	VFMADD231PS 128(DX), Z6, Z2
	VFMADD231PS 192(DX), Z7, Z3
	ADDQ        $256, SI
	ADDQ        $256, DX
	DECQ        CX
	JNE         next
	VMOVUPS     Z0, (DI)
	VMOVUPS     Z1, 64(DI)
	VMOVUPS     Z2, 128(DI)
	VMOVUPS     Z3, 192(DI)
	VZEROUPPER
	RET
