(* The program of twin.v does what soft_cuts.v says: the same decisions, the same boxes, the same accounts. So its transcripts are
   those of which the theorems speak. *)
From mathcomp Require Import all_ssreflect all_fingroup all_algebra zify ring.
From Sfumato Require Import exchange coins soft_cuts.
From Sfumato Require twin.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.Theory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

(** Rounding down. *)
Definition floor (x : rat) : nat := (`|numq x| %/ `|denq x|)%N.
Definition rounded (unit : nat) (x : rat) : rat := (floor (x * unit%:R))%:R / unit%:R.

Lemma floor_frac a b : (0 < b)%N -> floor (a%:R / b%:R) = (a %/ b)%N.
Proof.
move=> b0; rewrite /floor; set x := a%:R / b%:R; have d0 : (0 < `|denq x|)%N by rewrite absz_gt0 denq_neq0.
have same : (`|numq x| * b = a * `|denq x|)%N.
  have xb : x * b%:R = a%:R by rewrite /x mulfVK // pnatr_eq0 -lt0n.
  have : ((numq x)%:~R * b%:R = a%:R * (denq x)%:~R :> rat) by rewrite numqE -xb mulrAC.
  rewrite !pmulrn -!intrM => /intr_inj /(congr1 absz); by rewrite !abszM.
by rewrite -[RHS](divnMr d0) -same [(b * _)%N]mulnC divnMr.
Qed.

Lemma floor_le x : 0 <= x -> (floor x)%:R <= x.
Proof.
move=> x0; rewrite -{2}(divq_num_den x); have d0 : 0 < (denq x)%:~R :> rat by rewrite ltr0z denq_gt0.
rewrite ler_pdivl_mulr //.
have -> : (denq x)%:~R = `|denq x|%N%:R :> rat by rewrite pmulrn gtz0_abs ?denq_gt0.
have -> : (numq x)%:~R = `|numq x|%N%:R :> rat by rewrite pmulrn gez0_abs ?numq_ge0.
by rewrite -natrM ler_nat leq_trunc_div.
Qed.

Lemma rounded_down unit T : (0 < unit)%N -> 0 <= T -> 0 <= rounded unit T <= T.
Proof.
move=> u0 T0; rewrite /rounded divr_ge0 ?ler0n //= ler_pdivr_mulr ?ltr0n //.
by apply: floor_le; rewrite mulr_ge0 ?ler0n.
Qed.

Section Refinement.
Variables (P V E : finType) (event : E -> {set V}) (over under : E -> nat).
Variables (candidates : seq P -> seq (pred P)) (coin_over coin_under : nat -> nat) (tests shown fine : nat).
Variable leading : nat -> nat -> nat -> nat.
Variable w : world P V.
Hypothesis over_gt0 : forall e, (0 < over e)%N.
Hypothesis under_gt0 : forall e, (0 < under e)%N.
Hypothesis coin_under_gt0 : forall n, (0 < coin_under n)%N.
Hypothesis shown_gt0 : (0 < shown)%N.
Hypothesis fine_gt0 : (0 < fine)%N.

(** What the program's numbers and lists mean. *)
Let has (e : E) (p : P) : bool := w p \in event e.
Let bound (e : E) : rat := (over e)%:R / (under e)%:R.
Let coin (n : nat) : rat := (coin_over n)%:R / (coin_under n)%:R.
Let keep := rounded (shown * fine).
Let show := rounded shown.
Definition side (a : pred P) : {set P} := [set p | a p].
Definition left_sides (B : {set P}) : seq {set P} := [seq side a | a <- candidates (enum B)].
Definition account (a : nat) : rat := a%:R / (shown * fine)%:R.
Definition box (b : seq P * nat) : {set P} * rat := ([set p in b.1], account b.2).

Notation hist := (count_events event).
Notation t_cut := (twin.cut (enum E) has over under candidates coin_over coin_under tests shown fine leading).

(* The way that given coins lead: a test is passed if no more of them refuse than there is slack. *)
Fixpoint follows (tau : transcript) (low : nat) (B : {set P}) (T : rat) (made : nat) (lefts : seq {set P}) : bool :=
  match tau, lefts with
  | Final, [::] => true
  | Final, _ :: _ | _, [::] => false
  | _, L :: others =>
    let left := #|B :&: L| in let right := #|B :\: L| in
    let passed := (leading low (low + #|B|) made)%:Z <= slack bound show (hist B w) (hist (B :&: L) w) left right T in
    let sides one two := follows one low (B :&: L) T 0 (left_sides (B :&: L))
                         && follows two (low + left) (B :\: L) T 0 (left_sides (B :\: L)) in
    match before_test bound coin tests keep show (hist B w) left right T made, tau with
    | Next, Skipped rest => follows rest low B T made others
    | Safe, Safely one two => sides one two
    | Try, Passed one two => passed && sides one two
    | Try, Refused rest => ~~ passed && follows rest low B (keep (T * coin #|B|)) made.+1 others
    | _, _ => false
    end
  end.

(** Lists are sets in the order of `enum`. *)
Lemma filter_enum (a : pred P) (B : {set P}) : filter a (enum B) = enum (B :&: side a).
Proof. by rewrite /enum_mem -filter_predI; apply: eq_filter => p; rewrite /= !inE andbC. Qed.

Lemma filter_rest (a : pred P) (B : {set P}) : filter (fun p => ~~ a p) (enum B) = enum (B :\: side a).
Proof. by rewrite /enum_mem -filter_predI; apply: eq_filter => p; rewrite /= !inE. Qed.

Lemma tally_enum (B : {set P}) e : twin.tally has (enum B) e = hist B w e.
Proof.
rewrite /twin.tally -size_filter ffunE /count cardE; congr size.
by rewrite /enum_mem -filter_predI; apply: eq_filter => p; rewrite /= !inE andbC.
Qed.

Lemma set_enum (B : {set P}) : [set p in enum B] = B.
Proof. by apply/setP=> p; rewrite inE mem_enum. Qed.

(** Numbers. *)
Lemma unit_gt0 : (0 < shown * fine)%N. Proof. by rewrite muln_gt0 shown_gt0. Qed.

Lemma show_account a : show (account a) = (a %/ fine)%:R / shown%:R.
Proof.
rewrite /show /rounded /account; congr (_%:R / _).
have s0 : shown%:R != 0 :> rat by rewrite pnatr_eq0 -lt0n.
have f0 : fine%:R != 0 :> rat by rewrite pnatr_eq0 -lt0n.
have -> : a%:R / (shown * fine)%:R * shown%:R = a%:R / fine%:R :> rat.
  by rewrite natrM invfM mulrA mulrAC mulfVK // mulrC.
by rewrite floor_frac.
Qed.

Lemma keep_account a n : keep (account a * coin n) = account (twin.after coin_over coin_under n a).
Proof.
rewrite /keep /rounded /account /coin /twin.after; congr (_%:R / _).
have u0 : (shown * fine)%:R != 0 :> rat by rewrite pnatr_eq0 -lt0n unit_gt0.
by rewrite mulrAC mulfVK // mulrA -natrM floor_frac.
Qed.

Lemma need_fits e k n a : (twin.need over under shown e k <= twin.room shown fine n a)%N = fits bound show k e n (account a).
Proof.
have s0 : 0 < shown%:R :> rat by rewrite ltr0n.
have u0 : 0 < (under e)%:R :> rat by rewrite ltr0n.
have -> : fits bound show k e n (account a) = (over e == under e) || (shown * k * under e <= over e * twin.room shown fine n a)%N.
  rewrite /fits /bound /room show_account; congr (_ || _).
    by rewrite -(inj_eq (mulIf (lt0r_neq0 u0))) mulfVK ?lt0r_neq0 // mul1r eqr_nat.
  rewrite -(ler_pmul2r (mulr_gt0 u0 s0)).
  have -> : (over e)%:R / (under e)%:R * (1 + n.-1%:R * ((a %/ fine)%:R / shown%:R)) * ((under e)%:R * shown%:R)
          = (over e)%:R * (shown%:R + n.-1%:R * (a %/ fine)%:R) :> rat by field; rewrite !lt0r_neq0.
  by rewrite -!natrM -natrD -natrM ler_nat mulnC [(under e * _)%N]mulnC mulnAC.
rewrite /twin.need; have [->|_] := eqVneq (over e) (under e); first by rewrite leq0n.
rewrite -ltnS ltn_divLR // mulSn [(over e * _)%N]mulnC; have := over_gt0 e; lia.
Qed.

Lemma cap_cap e c n a : twin.cap over under shown e (twin.room shown fine n a) c = cap bound show e c n (account a).
Proof.
rewrite /cap; elim: c => [|c IH] /=; first by rewrite big_mkcond big_ord_recl big_ord0 /= maxn0; do 2 case: ifP.
rewrite big_mkcond big_ord_recr -big_mkcond /= -need_fits; case: ifP => _; last by rewrite IH maxn0.
by apply/esym/maxn_idPr; apply/bigmax_leqP => k _; exact: ltnW.
Qed.

Lemma all_events (p : pred E) : all p (enum E) = [forall e, p e].
Proof. by apply/allP/forallP => [ok e|ok e _]; [apply: ok; rewrite mem_enum|exact: ok]. Qed.

Lemma keeps_keeps (B : {set P}) n a :
  twin.keeps (enum E) over under shown fine (twin.tally has (enum B)) n a = keeps bound show (hist B w) n (account a).
Proof. by rewrite /twin.keeps all_events; apply: eq_forallb => e; rewrite tally_enum need_fits. Qed.

Lemma verdicts (B : {set P}) left right a made :
  twin.before_test (enum E) over under coin_over coin_under tests shown fine (twin.tally has (enum B)) left right a made
  = before_test bound coin tests keep show (hist B w) left right (account a) made.
Proof.
rewrite /twin.before_test /before_test !keeps_keeps keep_account.
have -> : twin.possible (enum E) over under shown fine (twin.tally has (enum B)) left right a
        = possible bound show (hist B w) left right (account a).
  by rewrite /twin.possible all_events; apply: eq_forallb => e; rewrite tally_enum !cap_cap.
by case: ifP => // _; case: (made == tests) => //=; case: ifP => //= _; case: ifP.
Qed.

Lemma le_slack h here left right T (k : nat) : (k%:Z <= slack bound show (E := E) h here left right T) =
  (k <= left + right)%N && [forall e, ((cap bound show e (h e) left T < h e)%N ==> (here e + k <= cap bound show e (h e) left T)%N)
     && ((cap bound show e (h e) right T < h e)%N ==> (h e + k <= cap bound show e (h e) right T + here e)%N)].
Proof.
apply/idP/andP => [le|[low /forallP each]]; last first.
  apply: (big_ind (fun s : int => k%:Z <= s)) => [|s s'|]; [lia|by rewrite le_minr => -> ->|].
  by move=> [e []] /= over'; have /andP[/implyP one /implyP two] := each e; [have := one over'|have := two over']; lia.
have top (r : seq (E * bool)) p f (t : int) : \big[Order.min/t]_(i <- r | p i) f i <= t.
  by elim/big_rec: _ => // i s _ le'; rewrite le_minl le' orbT.
split; first by have := le_trans le (top _ _ _ _); lia.
apply/forallP=> e; apply/andP; split; apply/implyP => over'.
  by have := le_trans le (min_le _ _ (mem_index_enum (e, true)) over'); rewrite /=; lia.
by have := le_trans le (min_le _ _ (mem_index_enum (e, false)) over'); rewrite /=; lia.
Qed.

Lemma passes_slack (B L : {set P}) left right a k :
  twin.passes (enum E) over under shown fine (twin.tally has (enum B)) (twin.tally has (enum L)) left right a k
  = (k%:Z <= slack bound show (hist B w) (hist L w) left right (account a)).
Proof.
rewrite le_slack /twin.passes all_events; congr (_ && _); apply: eq_forallb => e.
by rewrite !tally_enum !cap_cap.
Qed.

(** **Theorem.** With the same coins the program goes the way of soft_cuts.v, to the final boxes and accounts of its transcript. *)
Theorem twin_refines steps low (B : {set P}) a made cs tau boxes : t_cut steps low (enum B) a made cs = Some (tau, boxes) ->
  follows tau low B (account a) made [seq side c | c <- cs] /\
  finals left_sides coin keep tau B (account a) [seq side c | c <- cs] = [seq box b | b <- boxes].
Proof.
elim: steps low B a made cs tau boxes => // steps IH low B a made [|c cs] tau boxes /=.
  by move=> [<- <-] /=; rewrite /box /= set_enum.
rewrite filter_enum filter_rest -!cardE verdicts passes_slack.
set L := side c; set left := #|_|; set right := #|B :\: L|.
have joins how : twin.joined how (t_cut steps low (enum (B :&: L)) a 0 (candidates (enum (B :&: L))))
    (t_cut steps (low + left) (enum (B :\: L)) a 0 (candidates (enum (B :\: L)))) = Some (tau, boxes) ->
  exists one two, [/\ tau = how one two,
    follows one low (B :&: L) (account a) 0 (left_sides (B :&: L)) &&
    follows two (low + left) (B :\: L) (account a) 0 (left_sides (B :\: L)) &
    finals left_sides coin keep one (B :&: L) (account a) (left_sides (B :&: L)) ++
    finals left_sides coin keep two (B :\: L) (account a) (left_sides (B :\: L)) = [seq box b | b <- boxes]].
  rewrite /twin.joined; case e1: (t_cut _ _ _ _ _ _) => [[t1 b1]|] //; case e2: (t_cut _ _ _ _ _ _) => [[t2 b2]|] // -[<- <-].
  have [f1 g1] := IH _ _ _ _ _ _ _ e1; have [f2 g2] := IH _ _ _ _ _ _ _ e2.
  by exists t1, t2; rewrite /left_sides f1 f2 g1 g2 map_cat.
case verdict: (before_test _ _ _ _ _ _ _ _ _ _); rewrite /twin.followed.
- by case/joins=> one [two [-> fs gs]]; rewrite /= verdict fs gs.
- by case e: (t_cut _ _ _ _ _ _) => [[t1 b1]|] // -[<- <-]; have [f g] := IH _ _ _ _ _ _ _ e; rewrite /= verdict f g.
case: ifP => passed.
  by case/joins=> one [two [-> fs gs]]; rewrite /= verdict passed fs gs.
case e: (t_cut _ _ _ _ _ _) => [[t1 b1]|] // -[<- <-]; have [f g] := IH _ _ _ _ _ _ _ e.
by rewrite /= verdict passed keep_account f g.
Qed.

(** What given coins lead to has a chance in the model, if coins may fall either way. *)
Theorem follows_possible tau low (B : {set P}) T made lefts : (forall n, 0 < coin n < 1) -> follows tau low B T made lefts ->
  0 < chance event bound left_sides coin tests keep show w tau B T made lefts.
Proof.
move=> coins; have q n : 0 < coin n by case/andP: (coins n).
elim: tau low B T made lefts => [|r IH|one IHa two IHb|one IHa two IHb|r IH] low B T made [|L cs] //=;
  case: (before_test _ _ _ _ _ _ _ _ _ _) => //.
- exact: IH.
- by case/andP=> f1 f2; rewrite mulr_gt0 // ?(IHa _ _ _ _ _ f1) ?(IHb _ _ _ _ _ f2).
- case/and3P=> passed f1 f2; rewrite !mulr_gt0 ?(IHa _ _ _ _ _ f1) ?(IHb _ _ _ _ _ f2) // subr_gt0.
  by case: slack passed => // n _; rewrite /= exprn_ilt1 // ?ltW //; case/andP: (coins #|B|).
- case/andP=> _ f; rewrite mulr_gt0 ?(IH _ _ _ _ _ f) //; case: slack => n /=; rewrite ?ltr01 ?exprn_gt0 //.
Qed.

End Refinement.
