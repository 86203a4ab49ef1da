#include "textflag.h"
#include "kernel_amd64.h"

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
