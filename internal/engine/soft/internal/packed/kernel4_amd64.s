#include "textflag.h"
#include "kernel_amd64.h"

DATA shifts<>+0x00(SB)/8, $0x0000000000000000
DATA shifts<>+0x08(SB)/8, $0x0000000000000000
DATA shifts<>+0x10(SB)/8, $0x0000000000000000
DATA shifts<>+0x18(SB)/8, $0x0000000000000000
DATA shifts<>+0x20(SB)/8, $0x0000001000000010
DATA shifts<>+0x28(SB)/8, $0x0000001000000010
DATA shifts<>+0x30(SB)/8, $0x0000001000000010
DATA shifts<>+0x38(SB)/8, $0x0000001000000010
GLOBL shifts<>(SB), RODATA|NOPTR, $64

#define SHIFTS4 \
	VMOVDQU32 shifts<>+0(SB), Z20 \
	MOVL      $4, DX              \
	VPBROADCASTD DX, Z10          \
	VPADDD    Z10, Z20, Z21       \
	VPADDD    Z10, Z21, Z22       \
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

// The kernels of pairs take two rows at a time, so that both read x once: Z4 to Z7 are the sums of the second, Z28 is
// its table. They make the tables of a block in Z14 and Z15 before they multiply the block before it, so that the
// products need not wait for a table.

// EXACTS makes the tables of two blocks.
#define EXACTS \
	VBROADCASTSS     (R9), Z14                \
	VBROADCASTSS     (R9)(R13*1), Z15         \
	VFMSUB213PS.BCST (R10), Z16, Z14          \
	VFMSUB213PS.BCST (R10)(R13*1), Z16, Z15   \
	ROUND(Z14, Z30)                             \
	ROUND(Z15, Z31)

// ODDS makes them of what is rounded to odd. R14 is the part that is rounded up.
#define ODDS \
	VBROADCASTSS     (R9), Z14                 \
	VBROADCASTSS     (R9)(R13*1), Z15          \
	VFMSUB213PS.BCST (R10), Z16, Z14           \
	VFMSUB213PS.BCST (R10)(R13*1), Z16, Z15    \
	TOODD((R11), (R14), Z14)                 \
	TOODD((R11)(R13*1), (R14)(R13*1), Z15)   \
	ADDQ             $4, R11                     \
	ADDQ             $4, R14

#define TOODD(under, over, r) \
	VBROADCASTSS  under, Z30           \
	VBROADCASTSS  over, Z31            \
	VSUBPS.RD_SAE Z31, r, Z31          \
	VSUBPS.RU_SAE Z30, r, Z30          \
	VPMINUD       Z30, Z31, r          \
	VPORD         Z30, Z31, Z30        \
	VPTERNLOGD    $0xF8, Z17, Z30, r   \
	ROUND(r, Z30)

// PAIRS is a kernel of pairs. A table that no block has is made last of what is next in memory.
#define PAIRS(make) \
	SHIFTS4                                   \
	START                                     \
	MOVQ            R12, R14                  \
	SHRQ            $1, BX                    \
	MOVQ            BLOCKS(AX), R13           \
	MOVQ            R13, R12                  \
	IMULQ           CHUNKS(AX), R12           \
	SHLQ            $5, R12                   \
	SHLQ            $2, R13                   \
row:                                          \
	ROW                                       \
	VPXORD          Z4, Z4, Z4                \
	VPXORD          Z5, Z5, Z5                \
	VPXORD          Z6, Z6, Z6                \
	VPXORD          Z7, Z7, Z7                \
	make                                   \
block:                                        \
	VMOVAPS         Z14, Z8                   \
	VMOVAPS         Z15, Z28                  \
	ADDQ            $4, R9                    \
	ADDQ            $4, R10                   \
	make                                   \
	MOVQ            CHUNKS(AX), CX            \
chunk:                                        \
	PREFETCHT0      8192(R8)                  \
	PREFETCHT0      8192(R8)(R12*1)           \
	VBROADCASTI64X4 (R8), Z9                  \
	VBROADCASTI64X4 (R8)(R12*1), Z29          \
	STEP2(0, Z20, Z0, Z4)                     \
	STEP2(64, Z21, Z1, Z5)                    \
	STEP2(128, Z22, Z2, Z6)                   \
	STEP2(192, Z23, Z3, Z7)                   \
	ADDQ            $256, SI                  \
	ADDQ            $32, R8                   \
	DECQ            CX                        \
	JNE             chunk                     \
	DECQ            DX                        \
	JNE             block                     \
	STEPS                                     \
	UPPER                                     \
	WITHIN                                    \
	LOW                                       \
	VMOVSS          X0, (DI)                  \
	VADDPS          Z5, Z4, Z4                \
	VADDPS          Z7, Z6, Z6                \
	VADDPS          Z6, Z4, Z0                \
	UPPER                                     \
	WITHIN                                    \
	LOW                                       \
	VMOVSS          X0, 4(DI)                 \
	ADDQ            $8, DI                    \
	ADDQ            R12, R8                   \
	ADDQ            R13, R9                   \
	ADDQ            R13, R10                  \
	ADDQ            R13, R11                  \
	ADDQ            R13, R14                  \
	SUBQ            $4, R11                   \
	SUBQ            $4, R14                   \
	DECQ            BX                        \
	JNE             row                       \
	VZEROUPPER                                \
	RET

// func dotsExactPairs4(d *dots)
TEXT ·dotsExactPairs4(SB), NOSPLIT, $0-8
	PAIRS(EXACTS)

// func dotsOddPairs4(d *dots)
TEXT ·dotsOddPairs4(SB), NOSPLIT, $0-8
	PAIRS(ODDS)

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
