(* The procedure of soft_cuts.v is a program: the chances of its transcripts add up to one in every world, and it ends. *)
From mathcomp Require Import all_ssreflect all_fingroup all_algebra zify.
From Sfumato Require Import exchange coins soft_cuts.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.Theory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

(* All transcripts of at most k decisions in a row. *)
Fixpoint transcripts (k : nat) : seq transcript :=
  if k is k'.+1 then
    let ts := transcripts k' in
    Final :: [seq Skipped a | a <- ts] ++ [seq Safely a b | a <- ts, b <- ts] ++ [seq Passed a b | a <- ts, b <- ts]
          ++ [seq Refused a | a <- ts]
  else [::].

Section Program.
Variables (R : realFieldType) (P V E : finType) (event : E -> {set V}) (bound : E -> R).
Variables (candidates : {set P} -> seq {set P}) (coin : nat -> R) (tests : nat) (keep show : R -> R).
Notation chance := (chance event bound candidates coin tests keep show).

(* No more than k decisions in a row are possible from a box with these candidates. *)
Fixpoint within k (B : {set P}) (cs : seq {set P}) : bool :=
  if k is k'.+1 then
    if cs is L :: others then [&& within k' B others, within k' (B :&: L) (candidates (B :&: L)) &
                                  within k' (B :\: L) (candidates (B :\: L))]
    else true
  else false.

Theorem chances_sum k w B T made cs : within k B cs -> \sum_(tau <- transcripts k) chance w tau B T made cs = 1.
Proof.
elim: k B T made cs => // k IH B T made [|L cs] /= deep; rewrite big_cons !big_cat !big_map !big_allpairs_dep /=.
  by rewrite !big1 ?addr0 // => ? _; rewrite big1.
case/and3P: deep => same left right.
have sides : \sum_(a <- transcripts k) \sum_(b <- transcripts k)
    chance w a (B :&: L) T 0 (candidates (B :&: L)) * chance w b (B :\: L) T 0 (candidates (B :\: L)) = 1.
  by rewrite -big_distrlr /= !IH ?mulr1.
have none : \sum_(a <- transcripts k) \sum_(b <- transcripts k) 0 = 0 :> R by rewrite big1 // => ? _; rewrite big1.
case: before_test; rewrite ?none ?sides ?big1_eq ?add0r ?addr0 //; first exact: IH.
under eq_bigr do rewrite -mulr_sumr.
by rewrite -!mulr_sumr sides IH // !mulr1 subrK.
Qed.

Lemma within_more k B cs : within k B cs -> within k.+1 B cs.
Proof.
elim: k B cs => // k IH B [|L cs] //= /and3P[/IH one /IH two /IH three]; exact/and3P.
Qed.

(* If every cut has people on both sides the procedure ends. *)
Theorem ends : (forall B L, L \in candidates B -> B :&: L != set0 /\ B :\: L != set0) ->
  forall B, exists k, within k B (candidates B).
Proof.
move=> proper B; have [n le] := ubnP #|B|; elim: n B le => // n IH B le.
have: {subset candidates B <= candidates B} by [].
elim: {1 3}(candidates B) => [|L cs IHcs] sub; first by exists 1%N.
have [k0 w0] := IHcs (fun x xcs => sub x (mem_behead (s := L :: cs) xcs)).
have [notL notR] := proper B L (sub L (mem_head _ _)).
have sum := cardsID L B; rewrite -!card_gt0 in notL notR.
have [|k1 w1] := IH (B :&: L); first by lia.
have [|k2 w2] := IH (B :\: L); first by lia.
have more k d B' cs' : within k B' cs' -> within (d + k) B' cs' by move=> ?; elim: d => // d; exact: within_more.
have up k k' B' cs' : (k <= k')%N -> within k B' cs' -> within k' B' cs' by move=> /subnK <-; exact: more.
by exists (k0 + k1 + k2).+1; apply/and3P; split; [apply: up w0|apply: up w1|apply: up w2]; lia.
Qed.

(* All runs over strata, each of at most k decisions in a row. *)
Fixpoint runs k (boxes : seq {set P}) : seq (seq transcript) :=
  if boxes is _ :: boxes' then [seq tau :: run | tau <- transcripts k, run <- runs k boxes'] else [:: [::]].

Theorem run_chances_sum k w boxes : {in boxes, forall B, within k B (candidates B)} ->
  \sum_(run <- runs k boxes) run_chance event bound candidates coin tests keep show w run boxes = 1.
Proof.
elim: boxes => [|B boxes IH] deep /=; first by rewrite big_seq1.
rewrite big_allpairs_dep -big_distrlr /= chances_sum ?deep ?mem_head // IH ?mulr1 // => C mem.
by apply: deep; rewrite inE mem orbT.
Qed.

End Program.
