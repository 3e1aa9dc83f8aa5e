#!/usr/bin/env python3
"""generate.py SEED FOLDER: a random program, twice: FOLDER/split.sc in Split-C, and FOLDER/plain.c, where every global and
spread pointer is a plain one and every spread array a plain array. In one process both must print the same."""
import random
import sys

SIZE = 16384  # elements of each array; pointers begin in its middle
MIDDLE = SIZE // 2


class Program:
    def __init__(self, seed):
        self.random = random.Random(seed)
        self.split = []
        self.plain = []
        self.indent = 0
        self.loops = 0
        self.names = 0

    # A line of both programs: texts may differ.
    def line(self, split, plain=None):
        pad = "    " * self.indent
        self.split.append(pad + split)
        self.plain.append(pad + (split if plain is None else plain))

    def pick(self, *choices):
        return self.random.choice(choices)

    def number(self, limit):
        return self.random.randrange(limit)

    # Expressions are pairs (split, plain); most are the same text.
    def join(self, form, *parts):
        return form.format(*(p[0] for p in parts)), form.format(*(p[1] for p in parts))

    def same(self, text):
        return text, text

    def integer(self, depth):
        if depth <= 0:
            return self.pick(self.same(str(self.number(100))), self.same("i1"), self.same("i2"), self.same("c1"),
                             self.same("l1"), self.same("u1"))
        a = lambda: self.integer(depth - 1)
        choice = self.number(20)
        if choice < 5:
            return self.join("({} " + self.pick("+", "-", "*", "^", "|", "&") + " {})", a(), a())
        if choice == 5:
            return self.join("({} / (({} & 63) + 1))", a(), a())
        if choice == 6:
            return self.join("({} % (({} & 63) + 1))", a(), a())
        if choice == 7:
            return self.join("(({} & 1023) " + self.pick("<<", ">>") + " ({} & 7))", a(), a())
        if choice == 8:
            return self.join(self.pick("(-{})", "(~{})", "(!{})"), a())
        if choice == 9:
            return self.join("({} ? {} : {})", self.condition(depth - 1), a(), a())
        if choice == 10:
            return self.join("(({}) {})", self.same(self.pick("char", "short", "long", "unsigned", "int")), a())
        if choice == 11:
            return self.join("(!{})", self.condition(depth - 1))
        if choice == 12:
            return self.pick(self.same("sizeof *gi"), self.same("(int) sizeof(gd)"), self.same("(int) sizeof gs->a"))
        if choice == 13:
            return self.join("({}, {})", a(), a())
        if choice == 14:
            return self.join("helper({}, {})", a(), self.pointer("int", depth - 1))
        if choice == 15:
            return self.join("({{ int t = {}; t + {}; }})", a(), a())
        if choice == 16:
            # Differences: both into the same array.
            p, q = self.pick(("gi", "gi0"), ("si", "si0"), ("pi", "pi0"))
            return self.same(f"(int) ({p} - {q})")
        return self.object("int", depth - 1)

    def double(self, depth):
        if depth <= 0:
            return self.pick(self.same("d1"), self.same("d2"), self.same(f"{self.number(50)}.5"))
        a = lambda: self.double(depth - 1)
        choice = self.number(8)
        if choice < 3:
            return self.join("({} " + self.pick("+", "-", "*") + " {})", a(), a())
        if choice == 3:
            return self.join("({} ? {} : {})", self.condition(depth - 1), a(), a())
        if choice == 4:
            return self.join("((double) {})", self.integer(depth - 1))
        return self.object("double", depth - 1)

    def condition(self, depth):
        choice = self.number(9)
        if choice < 3:
            return self.join("({} " + self.pick("<", "==", "!=", ">=") + " {})", self.integer(depth - 1),
                             self.integer(depth - 1))
        if choice == 3:
            return self.join("({} " + self.pick("&&", "||") + " {})", self.condition(depth - 1),
                             self.condition(depth - 1)) if depth > 0 else self.same("i1")
        if choice == 4:
            return self.pick(self.same("gi"), self.same("!si"), self.same("(gi == 0)"), self.same("(si != (void *) 0)"),
                             self.same("gs->next"), self.same("!nothing"), self.same("(nothing || gd)"))
        if choice == 5:
            return self.pick(self.same("(si < si0)"), self.same("(si >= si0 + 3)"), self.same("(gi == gi0)"),
                             self.same("(pi != pi0)"), self.same("(gi0 <= gi)"))
        return self.join("({} > {})", self.double(depth - 1), self.double(depth - 1))

    # A pointer of any kind to elements of an array.
    def pointer(self, what, depth):
        if what == "int":
            base = self.pick("gi", "gi0", "si", "pi", "*ppg", "gs->g", "table[1]")
            if base == "pi":
                return self.same("pi")
        else:
            base = self.pick("gd", "sd", "gd")
        if depth <= 0 or self.number(2):
            return self.same(f"({base})")
        return self.join("({} + ({} & 7))", self.same(f"({base})"), self.integer(depth - 1))

    # An lvalue.
    def object(self, what, depth):
        index = self.join("({} & 7)", self.integer(min(depth - 1, 1)))
        if what == "int":
            choice = self.number(14)
            if choice < 3:
                return self.join("(*{})", self.pointer("int", depth))
            if choice < 6:
                return self.join("{}[{}]", self.pointer("int", depth), index)
            if choice == 6:
                return self.join("A[{}]", index)
            if choice == 7:
                return self.join("B[{}][{}]", index, index)
            if choice == 8:
                return self.join("V[{}][{}][2]", self.same("(i1 & 1)"), index)
            if choice == 9:
                return self.pick(self.same("gs->a"), self.same("(*gs).in.k"), self.same("gs[1].v[2]"), self.same("here.a"))
            if choice == 10:
                return self.join("gs->v[{} & 3]", index)
            if choice == 11:
                return self.same("(*gs->g)")
            if choice == 12:
                return self.join("(*(X + {}))[3]", index)
            return self.join("X[{}][{} & 3]", index, index)
        choice = self.number(5)
        if choice == 0:
            return self.join("(*{})", self.pointer("double", depth))
        if choice == 1:
            return self.join("D[{}][1]", index)
        if choice == 2:
            return self.pick(self.same("gs->d"), self.same("gs[2].d"))
        return self.join("{}[{}]", self.pointer("double", depth), index)

    def block(self, depth):
        self.line("{")
        self.indent += 1
        if self.number(3) == 0:
            self.names += 1
            n = f"n{self.names}"
            self.line(f"int {n}[(i1 & 7) + 8]::, m{self.names} = 3;", f"int {n}[(i1 & 7) + 8], m{self.names} = 3;")
            self.line(f"int k{self.names};")
            self.line(f"for (k{self.names} = 0; k{self.names} < 8; k{self.names}++) {n}[k{self.names}] = k{self.names} * m{self.names};")
            self.line(f"i2 += {n}[i1 & 7];")
        for _ in range(1 + self.number(4)):
            self.statement(depth - 1)
        self.indent -= 1
        self.line("}")

    def both(self, form, *parts):
        self.line(*self.join(form, *parts))

    def statement(self, depth):
        choice = self.number(24)
        e = 3
        if choice < 4:
            self.both("{} = {};", self.object("int", 2), self.integer(e))
        elif choice < 6:
            self.both("{} = {};", self.object("double", 2), self.double(e))
        elif choice == 6:
            op = self.pick("+=", "-=", "*=", "^=", "|=", "&=")
            self.both("{} " + op + " {};", self.object("int", 2), self.integer(e))
        elif choice == 7:
            self.both(self.pick("{}++;", "--{};", "++{};"), self.object("int", 2))
        elif choice == 8:
            self.both("i1 = {};", self.object("int", 2))
            self.both("i2 = ({} = {});", self.object("int", 2), self.integer(e))
        elif choice == 9:
            s, p = self.object("int", 2)
            while not ("g" in s or "s" in s or "X" in s or "A[" in s) or "here" in s or "pi" in s:
                s, p = self.object("int", 2)
            self.line(f"i1 := {s}; sync();", f"i1 = {p};")
        elif choice == 10:
            self.random_store()
        elif choice == 11:
            self.both("gi = {};", self.join("gi0 + ({} & 7)", self.integer(2)))
        elif choice == 12:
            self.both("si = {};", self.join("si0 + ({} & 7)", self.integer(2)))
        elif choice == 13:
            self.line(self.pick("gi++;", "si--;", "gi += 2;", "si -= 3;", "i1 = *gi++;", "i2 = *--si;", "*gd++ = d1;",
                                "gd = gd0;", "sd++;", "sd = sd0;", "(*ppg)++;", "table[1] -= 1;", "gs->g += 1;"))
        elif choice == 14:
            self.line(self.pick("here = *gs;", "gs[1] = here;", "*gs = gs[2];", "gs = gs->next;", "gs = &here;",
                                "gs->next = gs0;", "gs = gs0;", "gs->g = gi;", "*ppg = gi0;", "table[1] = pi;"))
        elif choice == 15:
            self.both("d1 = {};", self.double(e))
        elif choice == 16:
            self.both("l1 = {}, u1 = {};", self.integer(e), self.integer(e))
        elif choice == 17:
            self.both("c1 = {};", self.integer(e))
        elif choice == 18 and depth > 0:
            self.both("if ({})", self.condition(2))
            self.block(depth)
            if self.number(2):
                self.line("else")
                self.block(depth)
        elif choice == 19 and depth > 0 and self.loops < 2:
            self.loops += 1
            v = f"k{self.loops}{self.number(1000)}"
            self.line(f"{{ int {v};")
            self.line(f"for ({v} = 0; {v} < {1 + self.number(4)}; {v}++)")
            self.block(depth)
            self.line("}")
            self.loops -= 1
        elif choice == 20 and depth > 0:
            self.both("switch ({} & 3) {{", self.integer(2))
            self.line("case 0:")
            self.statement(depth - 1)
            self.line("break;")
            self.line("default:")
            self.block(depth)
            self.line("}")
        elif choice == 21:
            self.both("bulk(gi0 + {}, {});", self.same(str(self.number(8))), self.integer(2))
        elif choice == 22:
            self.line(self.pick("nothing = 0;", "gi = nothing ? nothing : gi;", "pi = (int *) gi0;", "i2 = *tolocal(si0);",
                                "gi = pi0;", "i1 = *(int *global) si0;", "i1 = toproc(gi);", "gi = toglobal(0, pi0);"),)
        else:
            self.both("i2 = {};", self.integer(e))

    def random_store(self):
        value = self.integer(2)
        target = self.pick(self.same("*gi"), self.same("gi[3]"), self.same("A[i1 & 7]"), self.same("gs->a"),
                           self.join("B[2][{} & 7]", self.integer(1)))
        op = self.pick(":=", ":-")
        end = "sync();" if op == ":=" else "all_store_sync();"
        self.line(f"{target[0]} {op} {value[0]}; {end}", f"{target[1]} = {value[1]};")

    def run(self):
        self.line("#include <stdio.h>")
        self.split += ["#include <split-c/split-c.h>", f"int A[{SIZE}]::, B[16]::[16];", "static double D[16]::[2];"]
        self.plain += ["#define global", "#define spread", "#define sync()", "#define all_store_sync()", "#define tolocal(x) (x)",
                       "#define toproc(x) 0", "#define toglobal(i, p) (p)", f"int A[{SIZE}], B[16][16];",
                       "static double D[16][2];"]
        for text in [
                "struct record { int a, v[4]; double d; struct { char c; int k; } in; int *global g; struct record *global next; };",
                f"int C[{SIZE}]; double E[{SIZE}], F[{SIZE}]; struct record records[8], own[4];",
                "#define here own[0]",
                "int i1 = 1, i2 = 2; char c1 = 3; long l1 = 4; unsigned u1 = 5; double d1 = 1.5, d2 = 2.5;",
                "int *global table[3], *global nothing;",
                "int helper(int by, int *global p) { return by ^ *p; }",
                "void bulk(int *global to, int by) { int k; for (k = 0; k < 5; k++) to[k] += by; }",
                "int splitc_main(int argc, char **argv)", "{"
        ]:
            self.line(text)
        self.indent = 1
        for text in [
                "int *global gi, *global gi0, *spread si, *spread si0, *pi, *pi0, *global *ppg = &table[0];",
                "double *global gd, *global gd0, *spread sd, *spread sd0;",
                "struct record *global gs, *global gs0; int (*spread X)[16]; int k; double sum = 0;"
        ]:
            self.line(text)
        self.line("int V[2][8]::[3];", "int V[2][8][3];")
        for text in [
                f"gi0 = C + {MIDDLE}, pi0 = C + {MIDDLE}, si0 = &A[{MIDDLE}];",
                f"gd0 = E + {MIDDLE}; sd0 = (double *spread) (F + {MIDDLE});",
                "gi = gi0, pi = pi0, si = si0, gd = gd0, sd = sd0, gs = gs0 = records, X = B;",
                "table[0] = gi0, table[1] = gi0 + 1, table[2] = 0, nothing = 0;",
                "for (k = 0; k < 48; k++) V[k / 24][k / 3 % 8][k % 3] = k;",
                # All that gs[2] and chains over next can come to: no pointer in them is null.
                "for (k = 0; k < 8; k++) records[k].g = gi0 + k, records[k].next = &records[k & 2], records[k].a = k;",
                "for (k = 0; k < 4; k++) own[k] = records[k];",
                f"for (k = 0; k < {SIZE}; k++) C[k] = k * 7, E[k] = k / 4.0, F[k] = k, A[k] = k ^ 5;",
                "here = records[1];"
        ]:
            self.line(text)
        for _ in range(30):
            self.statement(3)
        for text in [
                f"for (k = 0; k < {SIZE}; k++) sum = sum * 0.5 + C[k] + A[k] * 3.0 + E[k] + F[k];",
                "for (k = 0; k < 256; k++) sum = sum * 0.5 + B[k / 16][k % 16] + D[k / 16][k % 2];",
                "for (k = 0; k < 48; k++) sum = sum * 0.5 + V[k / 24][k / 3 % 8][k % 3];",
                "for (k = 0; k < 4; k++) sum += records[k].a + records[k].v[k] + records[k].d + records[k].in.k + *records[k].g;",
                'printf("%a %d %d %d %ld %u %a %a\\n", sum, i1, i2, c1, l1, u1, d1, d2);',
                'printf("%d %d %d %d\\n", (int) (gi - gi0), (int) (si - si0), (int) (gd - gd0), (int) (sd - sd0));',
                "return 0;"
        ]:
            self.line(text)
        self.indent = 0
        self.line("}")
        self.plain.append("int main(int argc, char **argv) { return splitc_main(argc, argv); }")


def main():
    seed, folder = int(sys.argv[1]), sys.argv[2]
    program = Program(seed)
    program.run()
    for name, lines in (("split.sc", program.split), ("plain.c", program.plain)):
        with open(f"{folder}/{name}", "w", encoding="ascii") as out:
            out.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
