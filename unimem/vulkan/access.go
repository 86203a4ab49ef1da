package vulkan

// Numbers of the SPIR-V specification, section 3: instructions, decorations and storage classes.
const (
	opTypePointer    = 32
	opVariable       = 59
	opDecorate       = 71
	opMemberDecorate = 72
	opTypeStruct     = 30

	decorationNonWritable = 24
	decorationBinding     = 33

	headerWords = 5
)

// reads tells for each of n storage buffers whether the code declares that it only reads it ("readonly buffer" of
// GLSL): each variable of the binding, or each member of its structure, is decorated as NonWritable. What the code does
// not tell counts as written.
func reads(code []uint32, n int) []bool {
	type member struct{ structure, number uint32 }
	var (
		locked     = map[uint32]bool{}   // variables that are NonWritable
		members    = map[member]bool{}   // members that are
		counts     = map[uint32]int{}    // members of structures
		pointee    = map[uint32]uint32{} // of types
		bindings   = map[uint32]uint32{} // of variables
		variableOf = map[uint32]uint32{} // type of each variable
	)
	all := make([]bool, n)
	for at := headerWords; at < len(code); {
		size, op := int(code[at]>>16), code[at]&0xffff
		if size == 0 || size > len(code)-at {
			return make([]bool, n)
		}
		switch word := code[at+1 : at+size]; {
		case op == opDecorate && len(word) == 2 && word[1] == decorationNonWritable:
			locked[word[0]] = true
		case op == opDecorate && len(word) == 3 && word[1] == decorationBinding:
			bindings[word[0]] = word[2]
		case op == opMemberDecorate && len(word) == 3 && word[2] == decorationNonWritable:
			members[member{word[0], word[1]}] = true
		case op == opTypeStruct && len(word) > 1:
			counts[word[0]] = len(word) - 1
		case op == opTypePointer && len(word) == 3:
			pointee[word[0]] = word[2]
		case op == opVariable && len(word) >= 3:
			variableOf[word[1]] = word[0]
		}
		at += size
	}
	written := make([]bool, n)
	for variable, binding := range bindings {
		if binding >= uint32(n) {
			continue
		}
		structure := pointee[variableOf[variable]]
		readOnly := counts[structure] > 0
		for i := range counts[structure] {
			readOnly = readOnly && members[member{structure, uint32(i)}]
		}
		all[binding] = true
		written[binding] = written[binding] || !readOnly && !locked[variable]
	}
	for i := range all {
		all[i] = all[i] && !written[i]
	}
	return all
}
