#include "textflag.h"
#include "kernel_amd64.h"

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
