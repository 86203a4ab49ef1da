// Macros that transpose halves.

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
	VPUNPCKLWD  X1, X0, X8        \
	VPUNPCKHWD  X1, X0, X9        \
	VPUNPCKLWD  X3, X2, X10       \
	VPUNPCKHWD  X3, X2, X11       \
	VPUNPCKLWD  X5, X4, X12       \
	VPUNPCKHWD  X5, X4, X13       \
	VPUNPCKLWD  X7, X6, X14       \
	VPUNPCKHWD  X7, X6, X15       \
	VPUNPCKLDQ  X10, X8, X0       \
	VPUNPCKHDQ  X10, X8, X1       \
	VPUNPCKLDQ  X11, X9, X2       \
	VPUNPCKHDQ  X11, X9, X3       \
	VPUNPCKLDQ  X14, X12, X4      \
	VPUNPCKHDQ  X14, X12, X5      \
	VPUNPCKLDQ  X15, X13, X6      \
	VPUNPCKHDQ  X15, X13, X7      \
	VPUNPCKLQDQ X4, X0, X8        \
	VPUNPCKHQDQ X4, X0, X9        \
	VPUNPCKLQDQ X5, X1, X10       \
	VPUNPCKHQDQ X5, X1, X11       \
	VPUNPCKLQDQ X6, X2, X12       \
	VPUNPCKHQDQ X6, X2, X13       \
	VPUNPCKLQDQ X7, X3, X14       \
	VPUNPCKHQDQ X7, X3, X15

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
	VPUNPCKLWD  Z1, Z0, Z8     \
	VPUNPCKHWD  Z1, Z0, Z9     \
	VPUNPCKLWD  Z3, Z2, Z10    \
	VPUNPCKHWD  Z3, Z2, Z11    \
	VPUNPCKLWD  Z5, Z4, Z12    \
	VPUNPCKHWD  Z5, Z4, Z13    \
	VPUNPCKLWD  Z7, Z6, Z14    \
	VPUNPCKHWD  Z7, Z6, Z15    \
	VPUNPCKLDQ  Z10, Z8, Z0    \
	VPUNPCKHDQ  Z10, Z8, Z1    \
	VPUNPCKLDQ  Z11, Z9, Z2    \
	VPUNPCKHDQ  Z11, Z9, Z3    \
	VPUNPCKLDQ  Z14, Z12, Z4   \
	VPUNPCKHDQ  Z14, Z12, Z5   \
	VPUNPCKLDQ  Z15, Z13, Z6   \
	VPUNPCKHDQ  Z15, Z13, Z7   \
	VPUNPCKLQDQ Z4, Z0, Z8     \
	VPUNPCKHQDQ Z4, Z0, Z9     \
	VPUNPCKLQDQ Z5, Z1, Z10    \
	VPUNPCKHQDQ Z5, Z1, Z11    \
	VPUNPCKLQDQ Z6, Z2, Z12    \
	VPUNPCKHQDQ Z6, Z2, Z13    \
	VPUNPCKLQDQ Z7, Z3, Z14    \
	VPUNPCKHQDQ Z7, Z3, Z15
