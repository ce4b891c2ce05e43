(* Reads tables and coins as whole numbers, and prints the boxes that the twin makes, each as its account and its people.

   tables, then of each table: people, columns, events, floor, tests, patience, tosses;
   of each person her stratum, her code in each column, and 1 or 0 for each event; of each event its bound, over and under;
   of each toss where its box begins and ends along the cuts, and for each test how many coins refuse in a row. *)
let number () = Scanf.scanf " %d" (fun n -> n)
let rec list n f = if n = 0 then [] else let x = f () in x :: list (n - 1) f
let array n f = Array.of_list (list n f)
let shown = 1000 and fine = 1_000_000

let table () =
  let people = number () in let columns = number () in let events = number () in let floor = number () in
  let tests = number () in let patience = number () in let tosses = number () in
  let person () =
    let stratum = number () in let codes = array columns number in let has = array events number in (stratum, codes, has) in
  let who = array people person in
  let bounds = array events (fun () -> let over = number () in let under = number () in (over, under)) in
  let toss () = let low = number () in let high = number () in ((low, high), array tests number) in
  let coins = list tosses toss in
  let everybody = List.init people Fun.id and all_events = List.init events Fun.id in
  let stratum p = let s, _, _ = who.(p) in s in
  let column j p = let _, codes, _ = who.(p) in codes.(j) in
  let has e p = let _, _, flags = who.(p) in flags.(e) = 1 in
  let candidates = Twin.quasi_candidates (List.init columns column) everybody floor in
  let leading low high made =
    match List.assoc_opt (low, high) coins with
    | Some drawn -> drawn.(made)
    | None -> failwith "coins are asked of a box that the kernels tossed none for" in
  let boxes_from low mine =
    let made = Twin.cut all_events has (fun e -> fst bounds.(e)) (fun e -> snd bounds.(e))
      candidates (Twin.refusing_over patience) (Twin.refusing_under patience) tests shown fine leading
      (people * (columns + 2)) low mine (shown * fine) 0 (candidates mine) in
    match made with
    | None -> failwith "more steps than people and columns allow"
    | Some (_, boxes) -> boxes in
  let cut_stratum (low, boxes) s =
    let mine = List.filter (fun p -> stratum p = s) everybody in
    (low + List.length mine, boxes @ boxes_from low mine) in
  let _, boxes = List.fold_left cut_stratum (0, []) (List.sort_uniq compare (List.map stratum everybody)) in
  Printf.printf "boxes %d\n" (List.length boxes);
  let print (box, account) =
    print_string (String.concat " " (List.map string_of_int (account / fine :: List.sort compare box))); print_newline () in
  List.iter print boxes

let () = for _ = 1 to number () do table () done
