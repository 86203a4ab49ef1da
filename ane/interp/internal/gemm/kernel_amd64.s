#include "textflag.h"

// What the functions do is said in blocked.go. Throughout: DI is C, SI is A, DX
// is B, R8 the bytes between rows of C and B, R9 those between rows of A, CX
// the steps left.

// ROWS0 names no row; LOAD2 and the like move the halves of a row of a tile.
#define LOAD2(at, x, y) \
	VMOVUPS 0 at, x  \
	VMOVUPS 32 at, y
