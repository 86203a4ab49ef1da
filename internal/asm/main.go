// Command asm writes the assembly for amd64 of packages of the software engine, with the Go files that declare its
// functions. With -check it writes nothing and fails if the files differ.
//
//	go -C internal/asm run .
package main

import (
	"flag"
	"log"

	"github.com/anekit/anekit/internal/asm/emit"
	"github.com/anekit/anekit/internal/asm/packed"
)

func main() {
	check := flag.Bool("check", false, "only compare the files")
	flag.Parse()
	if err := emit.Package("../engine/soft/internal/packed", *check, packed.Write); err != nil {
		log.Fatal("asm: packed: ", err)
	}
}
