//go:build wasip1

// A guest in Go: GOOS=wasip1 GOARCH=wasm go build -buildmode=c-shared. It fills two matrices in its own memory, has the
// engine multiply them, and counts the wrong elements of the product through the slice that it bound.
package main

import "unsafe"

const (
	side  = 128
	align = 16384 // of an engine that reads every tensor from byte 0 of its surface
)

//go:wasmimport anekit program_open
func programOpen(name unsafe.Pointer, n uint32) int32

//go:wasmimport anekit request_open
func requestOpen(program int32) int32

//go:wasmimport anekit bind
func bind(request int32, name unsafe.Pointer, n uint32, ptr unsafe.Pointer, bytes uint32) int32

//go:wasmimport anekit evaluate
func evaluate(request int32) int32

// memory holds the matrices. A tensor takes whole pages, so the slice has some more.
var memory [3*2*side*side + align]byte

// matrix returns matrix i in memory.
func matrix(i int) []uint16 {
	base := (uintptr(unsafe.Pointer(&memory)) + align - 1) / align * align
	at := base - uintptr(unsafe.Pointer(&memory)) + uintptr(i*2*side*side)
	return unsafe.Slice((*uint16)(unsafe.Pointer(&memory[at])), side*side)
}

func name(s string) (unsafe.Pointer, uint32) {
	return unsafe.Pointer(unsafe.StringData(s)), uint32(len(s))
}

// halves are the numbers -2 to 2 as fp16.
var halves = [5]uint16{0xc000, 0xbc00, 0, 0x3c00, 0x4000}

func value(m, i int) int { return (i*7+i/side*3+m)%5 - 2 }

// number is the whole number of an fp16.
func number(h uint16) int {
	exponent, n := int(h>>10&31), int(h&1023)|1024
	if h&0x7fff == 0 {
		return 0
	}
	if exponent >= 25 {
		n <<= exponent - 25
	} else {
		n >>= 25 - exponent
	}
	if h&0x8000 != 0 {
		return -n
	}
	return n
}

// multiply returns the number of wrong elements, or a code below 0.
//
//go:wasmexport multiply
func multiply() int32 {
	p, n := name("product")
	program := programOpen(p, n)
	if program < 0 {
		return program
	}
	request := requestOpen(program)
	if request < 0 {
		return request
	}
	for i, port := range []string{"a", "b", "c"} {
		p, n := name(port)
		if code := bind(request, p, n, unsafe.Pointer(&matrix(i)[0]), 2*side*side); code < 0 {
			return code
		}
	}
	for m := range 2 {
		for i := range matrix(m) {
			matrix(m)[i] = halves[value(m, i)+2]
		}
	}
	if code := evaluate(request); code < 0 {
		return code
	}
	wrong := int32(0)
	for row := range side {
		for column := range side {
			sum := 0
			for k := range side {
				sum += value(0, row*side+k) * value(1, k*side+column)
			}
			if number(matrix(2)[row*side+column]) != sum {
				wrong++
			}
		}
	}
	return wrong
}

func main() {}
