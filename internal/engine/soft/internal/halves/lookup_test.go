package halves

import (
	"fmt"
	"math"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane/fp16"
)

func TestLookup(t *testing.T) {
	var table [1 << 16]fp16.Bits
	for i := range table {
		table[i] = fp16.Bits(i * 40503)
	}
	r := rand.New(rand.NewPCG(3, 4))
	for _, n := range lengths {
		x, _ := values(r, n)
		got := make([]fp16.Bits, n)
		lookup(got, x, &table)
		for i, b := range x {
			require.Equal(t, b*40503, got[i])
		}
	}
}

// TestTables: a function is computed for each element until as many are computed as a table has, or at once for a table.
// Operators of the same key share it, also in goroutines. The smallest have none.
func TestTables(t *testing.T) {
	var tables Tables
	var calls atomic.Int64
	f := func(h fp16.Bits) fp16.Bits {
		calls.Add(1)
		return h ^ 0x155
	}
	use := func(table *Table, n int) {
		x := make([]fp16.Bits, n)
		for i := range x {
			x[i] = fp16.Bits(i * 40503)
		}
		table.Apply(x, x)
		for i, h := range x {
			require.Equal(t, fp16.Bits(i*40503)^0x155, h)
		}
		require.Equal(t, fp16.Bits(7^0x155), table.Value(7))
	}
	few, some, again := tables.Of("f", 255, f, nil), tables.Of("f", 256, f, nil), tables.Of("f", Tabled-1, f, nil)
	require.Same(t, some, again)
	require.Equal(t, []int{0, tableBytes}, []int{few.Bytes(), some.Bytes()})
	const shares = 16
	var group sync.WaitGroup
	for range shares {
		group.Go(func() { use(some, entries/shares-2) })
	}
	group.Wait()
	require.EqualValues(t, entries-shares, calls.Load())
	use(again, shares+1)
	require.EqualValues(t, 2*entries-shares, calls.Load())
	use(some, 1000)
	require.EqualValues(t, 2*entries-shares, calls.Load())
	for range 1000 {
		use(few, 99)
	}
	require.EqualValues(t, 2*entries-shares+1000*100, calls.Load())
	calls.Store(0)
	use(tables.Of("g", Tabled, f, nil), 1)
	require.EqualValues(t, entries, calls.Load())
	for i := range maxTables {
		tables.Of(fmt.Sprint(i), Tabled, f, nil)
	}
	require.NotSame(t, some, tables.Of("f", 256, f, nil), "it was forgotten")
}

// TestSigmoids: every value is the one that float64 rounds to, most of them without computing it.
func TestSigmoids(t *testing.T) {
	each(t, func(t *testing.T) {
		for _, times := range []bool{false, true} {
			calls := 0
			f := func(h fp16.Bits) fp16.Bits {
				calls++
				x := float64(h.Float32())
				y := 1 / (1 + math.Exp(-x))
				if times {
					y *= x
				}
				return fp16.FromFloat64(y)
			}
			var tables Tables
			table := tables.Of("sigmoid", Tabled, f, func(values []fp16.Bits) { Sigmoids(values, times, f) })
			var all [entries]fp16.Bits
			for i := range all {
				all[i] = fp16.Bits(i)
			}
			table.Apply(all[:], all[:])
			require.Less(t, calls, 1<<13)
			for i, got := range all {
				require.Equal(t, f(fp16.Bits(i)), got, "%#x", i)
			}
		}
	})
}
