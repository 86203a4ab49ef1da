package chip_test

import (
	"fmt"

	"github.com/anekit/anekit/ane/chip"
)

func ExampleParse() {
	c, err := chip.Parse("h16g")
	fmt.Println(c, c.Target(), err)
	_, err = chip.Parse("h18gg")
	fmt.Println(err)
	// Output:
	// m4 h16g <nil>
	// no chip "h18gg"; did you mean h18g? choose one of m1 (h13), m2 (h14), m3 (h15), m4 (h16g), m5 (h17), m6 (h18g)
}

func ExampleChip_Spec() {
	s := chip.M6.Spec()
	fmt.Println(s.KernelWidth)
	fmt.Println(s.WeightRate)
	// Output:
	// 15 (measured, study, compiles for h16g and h18g)
	// 150 (measured, study 9.3)
}
