//go:build unix

package main

import (
	"regexp"
	"strconv"
	"strings"
)

var label = regexp.MustCompile(`^(\w+:)(\s*\\)?$`)

func trap(line string) []string {
	if m := label.FindStringSubmatch(strings.TrimSpace(line)); m != nil {
		if m[2] != "" {
			return []string{m[1] + ` ; UD2 \`}
		}
		return []string{m[1] + " UD2"}
	}
	return nil
}

// slips are pairs of instructions that a programmer might confuse.
var slips = []struct{ from, to string }{
	{"VFMADD231PD", "VFNMADD231PD"},
	{"VFNMADD231PD", "VFMADD231PD"},
	{"VFMADD231SD", "VFNMADD231SD"},
	{"VFMADD213PD", "VFMADD231PD"},
	{"VFMADD213SD", "VFMADD231SD"},
	{"VADDPD", "VSUBPD"},
	{"VSUBPD", "VADDPD"},
	{"VADDSD", "VSUBSD"},
	{"VSUBSD", "VADDSD"},
	{"VMULPD", "VADDPD"},
	{"VMULSD", "VADDSD"},
	{"VMAXPD", "VMINPD"},
	{"VMINPD", "VMAXPD"},
	{"VMAXSD", "VMINSD"},
	{"VPMAXUQ", "VPMAXSQ"},
	{"VANDPD", "VORPD"},
	{"VORPD", "VANDPD"},
	{"VXORPD", "VORPD"},
	{"VPANDQ", "VPORQ"},
	{"VUNPCKHPD", "VUNPCKLPD"},
	{"VMOVHPD", "VMOVLPD"},
	{"VPSRLQ", "VPSLLQ"},
	{"VPSLLQ", "VPSRLQ"},
	{"VPADDQ", "VPSUBQ"},
	{"VPSUBQ", "VPADDQ"},
	{"ADDQ", "SUBQ"},
	{"SUBQ", "ADDQ"},
	{"ANDQ", "ORQ"},
	{"SHRQ", "SHLQ"},
	{"MOVL", "MOVLQSX"},
	{"VFNMADD231SD", "VFMADD231SD"},
	{"VFNMADD231PD.BCST", "VFMADD231PD.BCST"},
	{"VFMADD231PD.BCST", "VFNMADD231PD.BCST"},
	{"VANDNPD", "VANDPD"},
	{"INCQ", "DECQ"},
	{"JE", "JNE"},
	{"VDIVSD", "VMULSD"},
	{"VDIVPD", "VMULPD"},

	{"VFMLA", "VFMLS"},
	{"VFMLS", "VFMLA"},
	{"FMADDD", "FMSUBD"},
	{"FADDD", "FSUBD"},
	{"FSUBD", "FADDD"},
	{"FMULD", "FADDD"},
	{"FDIVD", "FMULD"},
	{"FMAXD", "FMIND"},
	{"FNEGD", "FABSD"},
	{"FABSD", "FNEGD"},
	{"VAND", "VORR"},
	{"VEOR", "VORR"},
	{"ADD", "SUB"},
	{"SUB", "ADD"},
	{"ADDS", "SUBS"},
	{"SUBS", "ADDS"},
	{"AND", "ORR"},
	{"LSR", "LSL"},
	{"LSL", "LSR"},
	{"MOVWU", "MOVW"},
	{"BLT", "BLE"},
	{"BGE", "BGT"},
	{"BGT", "BGE"},
	{"BNE", "BEQ"},
	{"BEQ", "BNE"},
	{"CBZ", "CBNZ"},
	{"TBZ", "TBNZ"},

	{"JLT", "JLE"},
	{"JGE", "JGT"},
	{"JLE", "JLT"},
	{"JZ", "JNZ"},
	{"JNZ", "JZ"},
	{"JA", "JAE"},
	{"JNE", "JEQ"},
}

var (
	instruction = regexp.MustCompile(`^\s*[A-Z][A-Z0-9.]*\b`)
	number      = regexp.MustCompile(`(\$|[ (,])(\d+)\b`)
	register    = regexp.MustCompile(`\b([XYZVF])(\d+)\b`)
)

// mutations returns the slips that are possible in one line.
func mutations(line string) []string {
	code, _, _ := strings.Cut(line, "//")
	code = strings.TrimRight(code, " \t")
	mnemonic := strings.TrimSpace(instruction.FindString(code))
	skip := mnemonic == "" || strings.HasPrefix(mnemonic, "TEXT") || strings.HasPrefix(mnemonic, "GLOBL") ||
		strings.Contains(code, "(FP)") || strings.HasPrefix(mnemonic, "CMOV")
	if skip {
		return nil
	}
	more := strings.HasSuffix(code, `\`)
	body := strings.TrimSpace(strings.TrimSuffix(code, `\`))
	finish := func(s string) string {
		if more {
			return "\t" + s + ` \`
		}
		return "\t" + s
	}
	var all []string
	if mnemonic != "DATA" && mnemonic != "RET" {
		if more || !strings.HasPrefix(body, "BLOCK") {
			all = append(all, finish("")) // the line is left out
		}
	}
	for _, e := range slips {
		if mnemonic == e.from {
			all = append(all, finish(strings.Replace(body, e.from, e.to, 1)))
		}
	}
	if m := number.FindStringSubmatchIndex(body); m != nil { // the first number is off by one, or by an element
		digits := body[m[4]:m[5]]
		n, _ := strconv.Atoi(digits)
		step := 8
		if body[m[2]] == '$' {
			step = 1
		}
		all = append(all, finish(body[:m[4]]+strconv.Itoa(n+step)+body[m[5]:]))
	}
	if m := register.FindAllStringSubmatchIndex(body, -1); len(m) > 0 { // a wrong register
		last := m[len(m)-1]
		n, _ := strconv.Atoi(body[last[4]:last[5]])
		all = append(all, finish(body[:last[4]]+strconv.Itoa((n+1)%8)+body[last[5]:]))
	}
	return all
}
