// Macros that transpose halves.

// UNPACK leaves in B0 to B7 the columns of 8 x 8 halves whose rows are in A0 to A7, in each 128 bits of the registers.
#define UNPACK(A0, A1, A2, A3, A4, A5, A6, A7, B0, B1, B2, B3, B4, B5, B6, B7) \
	VPUNPCKLWD  A1, A0, B0  \
	VPUNPCKHWD  A1, A0, B1  \
	VPUNPCKLWD  A3, A2, B2  \
	VPUNPCKHWD  A3, A2, B3  \
	VPUNPCKLWD  A5, A4, B4  \
	VPUNPCKHWD  A5, A4, B5  \
	VPUNPCKLWD  A7, A6, B6  \
	VPUNPCKHWD  A7, A6, B7  \
	VPUNPCKLDQ  B2, B0, A0  \
	VPUNPCKHDQ  B2, B0, A1  \
	VPUNPCKLDQ  B3, B1, A2  \
	VPUNPCKHDQ  B3, B1, A3  \
	VPUNPCKLDQ  B6, B4, A4  \
	VPUNPCKHDQ  B6, B4, A5  \
	VPUNPCKLDQ  B7, B5, A6  \
	VPUNPCKHDQ  B7, B5, A7  \
	VPUNPCKLQDQ A4, A0, B0  \
	VPUNPCKHQDQ A4, A0, B1  \
	VPUNPCKLQDQ A5, A1, B2  \
	VPUNPCKHQDQ A5, A1, B3  \
	VPUNPCKLQDQ A6, A2, B4  \
	VPUNPCKHQDQ A6, A2, B5  \
	VPUNPCKLQDQ A7, A3, B6  \
	VPUNPCKHQDQ A7, A3, B7

// EIGHT transposes 8 x 8 halves at SI, rows R9 bytes apart, to X8 to X15. R10 is 3*R9, R11 is SI+4*R9.
#define EIGHT \
	VMOVDQU     (SI), X0          \
	VMOVDQU     (SI)(R9*1), X1    \
	VMOVDQU     (SI)(R9*2), X2    \
	VMOVDQU     (SI)(R10*1), X3   \
	VMOVDQU     (R11), X4         \
	VMOVDQU     (R11)(R9*1), X5   \
	VMOVDQU     (R11)(R9*2), X6   \
	VMOVDQU     (R11)(R10*1), X7  \
	UNPACK(X0, X1, X2, X3, X4, X5, X6, X7, X8, X9, X10, X11, X12, X13, X14, X15)

// Tiles of 32 x 32 halves go through room: where rows are a multiple of 4 KiB apart, all of them have one place in
// the first-level cache, which keeps fewer lines of one place.

// LINES copies 8 rows of 64 bytes at AX to room at R11 and moves on to the next 8. R8 is the bytes between rows, R9 is
// 3*R8.
#define LINES \
	LEAQ       (AX)(R8*4), R10      \
	VMOVDQU64  (AX), Z18            \
	VMOVDQU64  (AX)(R8*1), Z19      \
	VMOVDQU64  (AX)(R8*2), Z20      \
	VMOVDQU64  (AX)(R9*1), Z21      \
	VMOVDQU64  (R10), Z22           \
	VMOVDQU64  (R10)(R8*1), Z23     \
	VMOVDQU64  (R10)(R8*2), Z24     \
	VMOVDQU64  (R10)(R9*1), Z25     \
	VMOVDQU64  Z18, (R11)           \
	VMOVDQU64  Z19, 64(R11)         \
	VMOVDQU64  Z20, 128(R11)        \
	VMOVDQU64  Z21, 192(R11)        \
	VMOVDQU64  Z22, 256(R11)        \
	VMOVDQU64  Z23, 320(R11)        \
	VMOVDQU64  Z24, 384(R11)        \
	VMOVDQU64  Z25, 448(R11)        \
	ADDQ       $512, R11            \
	LEAQ       (AX)(R8*8), AX

// FETCH fetches 8 lines at r and moves on.
#define FETCH(r) \
	PREFETCHT1 (r)    \
	PREFETCHT1 64(r)  \
	PREFETCHT1 128(r) \
	PREFETCHT1 192(r) \
	PREFETCHT1 256(r) \
	PREFETCHT1 320(r) \
	PREFETCHT1 384(r) \
	PREFETCHT1 448(r) \
	ADDQ       $512, r

// FOUR loads 8 columns, from byte o on, of rows r, r+8, r+16 and r+24 in room.
#define FOUR(o, r, x, z) \
	VMOVDQU      (o+64*r)(DX), x            \
	VINSERTI32X4 $1, (o+64*r+512)(DX), z, z  \
	VINSERTI32X4 $2, (o+64*r+1024)(DX), z, z \
	VINSERTI32X4 $3, (o+64*r+1536)(DX), z, z

// COLUMNS leaves 8 columns, from byte o of the rows in room on, in Z8 to Z15.
#define COLUMNS(o) \
	FOUR(o, 0, X0, Z0)         \
	FOUR(o, 1, X1, Z1)         \
	FOUR(o, 2, X2, Z2)         \
	FOUR(o, 3, X3, Z3)         \
	FOUR(o, 4, X4, Z4)         \
	FOUR(o, 5, X5, Z5)         \
	FOUR(o, 6, X6, Z6)         \
	FOUR(o, 7, X7, Z7)         \
	UNPACK(Z0, Z1, Z2, Z3, Z4, Z5, Z6, Z7, Z8, Z9, Z10, Z11, Z12, Z13, Z14, Z15)
