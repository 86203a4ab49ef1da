package standin

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// planes returns a live entry of four planes of 32 elements, stride bytes apart.
func planes(names string, stride int64) string {
	entry := liveJSON("", [5]int64{1, 1, 4, 1, 32}, [5]int64{4 * stride, 4 * stride, stride, 64})
	return strings.Replace(entry, `"Name": "", `, names, 1)
}

func called(name string, stride int64) string {
	return planes(fmt.Sprintf(`"Symbol": %[1]q, "Name": %[1]q, `, name), stride)
}

// describedAs returns a description of procedures from JSON: their list, the names of
// symbols, and the numbers of procedures.
func describedAs(procedures, inputs, outputs, numbers string) string {
	return fmt.Sprintf(`"ANEFModelDescription": {"ANEFModelProcedures": [%s], "kANEFModelInputSymbolsArrayKey": [%s],
		"kANEFModelOutputSymbolsArrayKey": [%s], "kANEFModelProcedureNameToIDMapKey": {%s}}, `, procedures, inputs, outputs, numbers)
}

func procedureJSON(id int, in, out string) string {
	return fmt.Sprintf(`{"ANEFModelProcedureID": %d, "ANEFModelInputSymbolIndexArray": [%s], "ANEFModelOutputSymbolIndexArray": [%s]}`, id, in, out)
}

// difference subtracts its second symbol from its first.
var difference = functions(`func main<ios18>(T a, T b) { T y = sub(x = a, y = b)[name = string("y")]; } -> (y);`)

// differs runs a procedure of two inputs with planes of the given distances in bytes
// and requires the difference of the inputs.
func differs(t *testing.T, d *Dump, text string, index uint32, first, second, result int64) {
	t.Helper()
	require.NotNil(t, d.Program)
	m := newFake(t, 3)
	s := newServer(m, d)
	h, err := s.compile(write(t, map[string]string{"model.mil": text}))
	require.NoError(t, err)
	defer s.DropProgram(h)
	at := func(i, stride int64) int64 { return i/32*stride + i%32*2 }
	for i := range int64(128) {
		half(m.blocks[1].Bytes(), at(i, first), float32(3*i))
		half(m.blocks[2].Bytes(), at(i, second), float32(i+7))
	}
	require.Equal(t, done, s.evaluate(h, index, 1, []uint32{1, 2}, []uint32{3}))
	for i := range int64(128) {
		require.Equal(t, float32(2*i-7), halfAt(m.blocks[3].Bytes(), at(i, result)), "element %d", i)
	}
}

func readDump(t *testing.T, data string) *Dump {
	t.Helper()
	d, err := ReadDump(written(t, `{"data": {`+data+`}}`))
	require.NoError(t, err)
	return d
}

// twoNetworks are procedures f and g, each with its own width of planes.
func twoNetworks(order ...int) string {
	all := []string{
		`{"Name": "f", "LiveInputList": [` + called("a", 64) + `,` + called("b", 128) + `], "LiveOutputList": [` +
			called("y@output", 192) + `]}`,
		`{"Name": "g", "LiveInputList": [` + called("a", 256) + `,` + called("b", 320) + `], "LiveOutputList": [` +
			called("y@output", 384) + `]}`,
	}
	var list []string
	for _, i := range order {
		list = append(list, all[i])
	}
	return `"NetworkStatusList": [` + strings.Join(list, ",") + `]`
}

// manyAttributes are all observed forms of attributes with placements. The planes of a
// have 64 bytes, of b 128, of y 192; in g 256, 320 and 384.
var manyAttributes = map[string]string{
	"states": `"NetworkStatusList": [{"Name": "main", "LiveInputList": [` + called("b",
		128) + `], "LiveStateList": [` + called("a", 64) + `], "LiveOutputList": [` + called("y@output", 192) + `]}]`,
	"parameters": `"NetworkStatusList": [{"Name": "main", "LiveInputList": [` +
		called("b", 128) + `], "LiveInputParamList": [` + called("a", 64) + `], "LiveOutputList": [` +
		called("y@output", 192) + `]}]`,
	"states sorted by a description": describedAs(procedureJSON(0, "0, 1", "0"), `"a", "b"`, `"y@output"`,
		`"main": 0`) + `"NetworkStatusList": [{"Name": "main", "LiveInputList": [` + called("b", 128) +
		`], "LiveStateList": [` + called("a", 64) + `], "LiveOutputList": [` + called("y@output", 192) + `]}]`,
	"a Symbol precedes a Name": `"NetworkStatusList": [{"Name": "main", "LiveInputList": [` +
		planes(`"Symbol": "a", "Name": "b", `, 64) + `,` + planes(`"Symbol": "b", "Name": "a", `, 128) +
		`], "LiveOutputList": [` + called("y@output", 192) + `]}]`,
	"a Name without a Symbol": describedAs(procedureJSON(0, "0, 1", "0"), `"a", "b"`, `"y@output"`,
		`"main": 0`) + `"NetworkStatusList": [{"Name": "main", "LiveInputList": [` +
		planes(`"Symbol": "v2", "Name": "b", `, 128) + `,` + planes(`"Symbol": "v1", "Name": "a", `, 64) +
		`], "LiveOutputList": [` + planes(`"Symbol": "v3@output", "Name": "y", `, 192) + `]}]`,
	"entries without names in list order": describedAs(procedureJSON(0, "1, 0", "0"), `"a", "b"`, `"y@output"`,
		`"main": 0`) + `"NetworkStatusList": [{"Name": "main", "LiveInputList": [` + planes("", 128) + `,` +
		planes("", 64) + `], "LiveOutputList": [` + planes("", 192) + `]}]`,
}

func TestAttributesOfManyForms(t *testing.T) {
	for name, data := range manyAttributes {
		t.Run(name, func(t *testing.T) { differs(t, readDump(t, data), difference, 0, 64, 128, 192) })
	}
}

// twoDifferences has procedures f and g with the same names of tensors.
var twoDifferences = functions(`func f<ios18>(T a, T b) { T y = sub(x = a, y = b)[name = string("y")]; } -> (y);
	func g<ios18>(T a, T b) { T y = sub(x = a, y = b)[name = string("y")]; } -> (y);`)

// pair describes f with symbols a, b and g with symbols a, b too.
func pair(procedures, numbers string) string {
	return describedAs(procedures, `"a", "b"`, `"y@output"`, numbers)
}

// networkOrders are descriptions of two procedures, with the index of f.
var networkOrders = map[string]struct {
	data string
	f    uint32
}{
	"in order": {pair(procedureJSON(0, "0, 1", "0")+","+procedureJSON(1, "0, 1", "0"),
		`"f": 0, "g": 1`) + twoNetworks(0, 1), 0},
	"networks swapped": {pair(procedureJSON(0, "0, 1", "0")+","+procedureJSON(1, "0, 1", "0"),
		`"f": 0, "g": 1`) + twoNetworks(1, 0), 0},
	"procedures swapped": {pair(procedureJSON(1, "0, 1", "0")+","+procedureJSON(0, "0, 1", "0"),
		`"f": 0, "g": 1`) + twoNetworks(0, 1), 1},
	"other numbers": {pair(procedureJSON(9, "0, 1", "0")+","+procedureJSON(5, "0, 1", "0"),
		`"f": 5, "g": 9`) + twoNetworks(0, 1), 1},
	"no numbers of names": {pair(procedureJSON(0, "0, 1", "0")+","+procedureJSON(1, "0, 1", "0"), ``) + twoNetworks(1,
		0), 1},
	"names beside it": {`"kANEFModelProcedureNameToIDMapKey": {"g": 0, "f": 1}, ` +
		strings.Replace(pair(procedureJSON(0, "0, 1", "0")+","+procedureJSON(1, "0, 1", "0"), ``),
			`"kANEFModelProcedureNameToIDMapKey"`, `"none"`, 1) + twoNetworks(0, 1), 1},
}

func TestNetworksBelongToProceduresByName(t *testing.T) {
	for name, c := range networkOrders {
		t.Run(name, func(t *testing.T) {
			differs(t, readDump(t, c.data), twoDifferences, c.f, 64, 128, 192)
			differs(t, readDump(t, c.data), twoDifferences, 1-c.f, 256, 320, 384)
		})
	}
}

// TestOneNetworkOfTwoProcedures: one network has the entries of both procedures.
func TestOneNetworkOfTwoProcedures(t *testing.T) {
	data := describedAs(procedureJSON(0, "0, 1", "0")+","+procedureJSON(1, "2, 3", "1"), `"a", "b", "c", "d"`,
		`"y@output", "z@output"`, `"f": 0, "g": 1`) +
		`"NetworkStatusList": [{"Name": "f", "LiveInputList": [` + called("a", 64) + `,` + called("b", 128) + `,` +
		called("c", 256) + `,` + called("d", 320) +
		`], "LiveOutputList": [` + called("y@output", 192) + `,` + called("z@output", 384) + `]}]`
	text := functions(`func f<ios18>(T a, T b) { T y = sub(x = a, y = b)[name = string("y")]; } -> (y);
		func g<ios18>(T c, T d) { T z = sub(x = c, y = d)[name = string("z")]; } -> (z);`)
	differs(t, readDump(t, data), text, 0, 64, 128, 192)
	differs(t, readDump(t, data), text, 1, 256, 320, 384)
	away := strings.Replace(data, `"NetworkStatusList": [`, `"NetworkStatusList": [{"Name": "x"}, {"Name": "y"}, `, 1)
	differs(t, readDump(t, away), text, 0, 64, 128, 192)
	differs(t, readDump(t, strings.Replace(away, `"Name": "f"`, `"Name": "h"`, 1)), text, 1, 256, 320, 384)
}
