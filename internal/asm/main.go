// Command asm writes the assembly for amd64 of packages of the software engine, with the Go files that declare its
// functions. With -check it writes nothing and fails if the files differ.
//
//	go -C internal/asm run .
package main

import (
	"flag"
	"log"

	"github.com/anekit/anekit/internal/asm/emit"
	"github.com/anekit/anekit/internal/asm/gemm"
	"github.com/anekit/anekit/internal/asm/halves"
	"github.com/anekit/anekit/internal/asm/packed"
	"github.com/anekit/anekit/internal/asm/spatial"
)

func main() {
	check := flag.Bool("check", false, "only compare the files")
	flag.Parse()
	for name, write := range map[string]func(*emit.File){
		"gemm": gemm.Write, "halves": halves.Write, "packed": packed.Write} {
		if err := emit.Package("../engine/soft/internal/"+name, *check, write); err != nil {
			log.Fatal("asm: ", name, ": ", err)
		}
	}
	if err := emit.Package("../engine/soft/spatial", *check, spatial.Write); err != nil {
		log.Fatal("asm: spatial: ", err)
	}
}
