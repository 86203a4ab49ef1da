package models_test

import (
	"fmt"
	"strings"

	"github.com/anekit/anekit/models"
)

func ExampleModel() {
	all, err := models.All()
	if err != nil {
		fmt.Println(err)
		return
	}
	m := all[0]
	x := m.Input("x", 4, 1)
	again := m.Input("x", 4, 1)
	fmt.Println(m.Name, len(x), x[0] == again[0])
	// Output: identity 4 true
}

func ExampleTolerance() {
	t := models.Tolerance{Abs: 0.01, Rel: 0.001, Reason: "tables of the chip"}
	fmt.Println(t.Allows(1.005, 1), t.Allows(1.5, 1))
	// Output: true false
}

func ExampleFilter() {
	f, found := models.FilterByName("sharpen")
	if !found {
		fmt.Println("choose one of", strings.Join(models.FilterNames(), ", "))
		return
	}
	m, err := f.Model(3, 480, 640)
	fmt.Println(m.Name, err)
	// Output: sharpen <nil>
}
