package safetensors

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// The work for names of metadata grows with their bytes, whatever they have in common: few are compared with each
// other, and each of them a few times.
func TestNamesAreSeldomCompared(t *testing.T) {
	const n = 3000
	for name, prefix := range map[string]string{
		"short": "", "alike": strings.Repeat("k", 500), "escaped": strings.Repeat(`\u00e4\n`, 50),
	} {
		t.Run(name, func(t *testing.T) {
			var b strings.Builder
			b.WriteString("{")
			for i := range n {
				fmt.Fprintf(&b, `"%s%x":"",`, prefix, i)
			}
			text := []byte(b.String())
			text[len(text)-1] = '}'
			all := newNames(text, 0)
			count := 0
			eachString(&scanner{b: text}, func(at int, raw []byte) bool {
				count++
				return all.add(at, raw) == 0
			})
			require.Zero(t, all.flush())
			require.Equal(t, n, count)
			require.Less(t, all.compared, n/4)
			require.Less(t, 4*len(all.slots), len(text))
		})
	}
}

// Every name is compared with all others before it, near and far, however it is written.
func TestNamesThatOccurTwice(t *testing.T) {
	for _, n := range []int{2, 31, 32, 33, 64, 1000} {
		for _, first := range []int{0, (n - 1) / 2, n - 2} {
			for _, again := range []string{"%x", `\u00%02x%s`} {
				var b strings.Builder
				for i := range n - 1 {
					fmt.Fprintf(&b, `"%x":"",`, i)
				}
				name := fmt.Sprintf("%x", first)
				if again != "%x" {
					name = fmt.Sprintf(again, name[0], name[1:])
				}
				_, err := parse(file(`{"__metadata__":{`+b.String()+`"`+name+`":""}}`, 0))
				require.ErrorIs(t, err, ErrDuplicate)
			}
		}
	}
	// As many as a text can have, all the same.
	_, err := parse(file(`{"__metadata__":{`+strings.Repeat(`"":"",`, 10_000)+`"":""}}`, 0))
	require.ErrorIs(t, err, ErrDuplicate)
}

// The densest text of names that differ leaves free slots.
func TestDensestNames(t *testing.T) {
	const letters = "!#$%&'()*+,-./0123456789:;<=>?@ABCDEFGHIJKLMNOPQRSTUVWXYZ[]^_`abcdefghijklmnopqrstuvwxyz{|}~ \x7f"
	names := []string{""}
	for i := 0; len(names) < 15_000; i++ { // all of one letter and of two, some of three
		for _, c := range letters {
			names = append(names, names[i]+string(c))
		}
	}
	for r := rune(0x80); r < 0x800; r++ {
		names = append(names, string(r))
	}
	text := `{"__metadata__":{"` + strings.Join(names, `":"","`) + `":""}}`
	_, err := parse(file(text, 0))
	require.NoError(t, err)
}
