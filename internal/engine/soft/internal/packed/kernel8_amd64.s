#include "textflag.h"
#include "kernel_amd64.h"

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
