package unimem_test

import (
	"testing"

	"github.com/anekit/anekit/internal/membench"
)

// run runs a case of membench by name; a floor has the name of its operation.
func run(b *testing.B, name string, floor bool) {
	for _, c := range membench.Cases() {
		switch {
		case c.Name == name && floor:
			c.Floor(b)
			return
		case c.Name == name:
			c.Run(b)
			return
		}
	}
	b.Fatalf("membench has no case %q", name)
}

func BenchmarkTapeTake(b *testing.B)      { run(b, "TapeTake", false) }
func BenchmarkTapeTakeFloor(b *testing.B) { run(b, "TapeTake", true) }

func BenchmarkTapeTakeOne(b *testing.B)      { run(b, "TapeTakeOne", false) }
func BenchmarkTapeTakeOneFloor(b *testing.B) { run(b, "TapeTakeOne", true) }

func BenchmarkTapeTakeParallel(b *testing.B)      { run(b, "TapeTakeParallel", false) }
func BenchmarkTapeTakeParallelFloor(b *testing.B) { run(b, "TapeTakeParallel", true) }

func BenchmarkTapeClear(b *testing.B)      { run(b, "TapeClear", false) }
func BenchmarkTapeClearFloor(b *testing.B) { run(b, "TapeClear", true) }

func BenchmarkGridTakeGive(b *testing.B)      { run(b, "GridTakeGive", false) }
func BenchmarkGridTakeGiveFloor(b *testing.B) { run(b, "GridTakeGive", true) }

func BenchmarkGridTakeGiveParallel(b *testing.B)      { run(b, "GridTakeGiveParallel", false) }
func BenchmarkGridTakeGiveParallelFloor(b *testing.B) { run(b, "GridTakeGiveParallel", true) }

func BenchmarkBlockOpen16MB(b *testing.B)      { run(b, "BlockOpen16MB", false) }
func BenchmarkBlockOpen16MBFloor(b *testing.B) { run(b, "BlockOpen16MB", true) }

func BenchmarkBlockOpen256MB(b *testing.B)      { run(b, "BlockOpen256MB", false) }
func BenchmarkBlockOpen256MBFloor(b *testing.B) { run(b, "BlockOpen256MB", true) }

func BenchmarkBlockWrite1GB(b *testing.B)      { run(b, "BlockWrite1GB", false) }
func BenchmarkBlockWrite1GBFloor(b *testing.B) { run(b, "BlockWrite1GB", true) }

func BenchmarkBlockFill1GB(b *testing.B)      { run(b, "BlockFill1GB", false) }
func BenchmarkBlockFill1GBFloor(b *testing.B) { run(b, "BlockFill1GB", true) }
