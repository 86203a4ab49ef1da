package standin

import (
	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/mil"
)

// typeNames are the framework's names of the types that can stand on a surface.
// Float16 is the one that has been read from compiled models; the others follow
// its form.
var typeNames = map[mil.DType]string{
	mil.FP16: "Float16", mil.FP32: "Float32", mil.Bool: "Bool",
	mil.Int8: "Int8", mil.Int16: "Int16", mil.Int32: "Int32",
	mil.UInt8: "UInt8", mil.UInt16: "UInt16", mil.UInt32: "UInt32",
}

// outputSuffix marks the names of outputs in the symbol arrays.
const outputSuffix = "@output"

// describe orders the symbols and returns the modelAttributes of a loaded
// program: names and shape of the lists as they have been read from compiled
// models on hardware.
func (p *program) describe() []byte {
	inputs := p.order(ane.Executable.Inputs, func(f *procedure) *[]port { return &f.in })
	outputs := p.order(ane.Executable.Outputs, func(f *procedure) *[]port { return &f.out })
	var network, procedures []any
	var ids []pair
	for i, f := range p.procedures {
		network = append(network, []pair{
			{"Name", f.name},
			{"LiveInputList", live(f.in)},
			{"LiveOutputList", live(f.out)},
		})
		procedures = append(procedures, []pair{
			{"ANEFModelProcedureID", i},
			{"ANEFModelInputSymbolIndexArray", symbols(f.in)},
			{"ANEFModelOutputSymbolIndexArray", symbols(f.out)},
		})
		ids = append(ids, pair{f.name, i})
	}
	suffixed := make([]string, len(outputs))
	for i, name := range outputs {
		suffixed[i] = name + outputSuffix
	}
	return encode([]pair{
		{"ANEFModelDescription", []pair{
			{"kANEFModelInputSymbolsArrayKey", array(inputs)},
			{"kANEFModelOutputSymbolsArrayKey", array(suffixed)},
			{"ANEFModelInput16KAlignmentArray", array(make([]bool, len(inputs)))},
			{"ANEFModelOutput16KAlignmentArray", array(make([]bool, len(outputs)))},
			{"ANEFModelProcedures", procedures},
			{"kANEFModelProcedureNameToIDMapKey", ids},
		}},
		{"NetworkStatusList", network},
	})
}

func symbols(ports []port) []any {
	list := make([]int, len(ports))
	for i, p := range ports {
		list[i] = p.symbol
	}
	return array(list)
}

// live lists tensors with their places: lengths in elements, strides in bytes.
func live(ports []port) []any {
	var list []any
	for _, p := range ports {
		l := p.layout
		list = append(list, []pair{
			{"Name", l.Name}, {"Type", typeNames[l.DType]},
			{"Batches", l.Batches}, {"Channels", l.Channels}, {"Depth", l.Depth}, {"Height", l.Height}, {"Width", l.Width},
			{"BatchStride", l.BatchStride}, {"PlaneStride", l.PlaneStride}, {"PlaneCount", l.Channels},
			{"DepthStride", l.DepthStride}, {"RowStride", l.RowStride}, {"Interleave", 1},
		})
	}
	return list
}
