// Command asm writes the assembly for amd64 of packages of the software engine, with the Go files that declare its
// functions. With -check it writes nothing and fails if the files differ.
//
//	go -C internal/asm run .
package main

import (
	"flag"
	"fmt"
	"os"

	"github.com/anekit/anekit/internal/asm/emit"
	"github.com/anekit/anekit/internal/asm/packed"
)

func main() {
	check := flag.Bool("check", false, "only compare the files")
	flag.Parse()
	for _, p := range []struct {
		name  string
		write func(f *emit.File)
	}{{"packed", packed.Write}} {
		if err := emit.Package("../engine/soft/internal/"+p.name, *check, p.write); err != nil {
			fmt.Fprintf(os.Stderr, "asm: %s: %v\n", p.name, err)
			os.Exit(1)
		}
	}
}
