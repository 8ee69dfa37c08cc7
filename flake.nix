{
  description = "Load tester whose tail latency is true";

  inputs.nixpkgs.url = "github:NixOS/nixpkgs/nixpkgs-unstable";

  outputs = { self, nixpkgs }:
    let
      systems = [ "x86_64-linux" "aarch64-linux" "aarch64-darwin" "x86_64-darwin" ];
      onEach = package: nixpkgs.lib.genAttrs systems (system: package nixpkgs.legacyPackages.${system});
      manifest = (builtins.fromTOML (builtins.readFile ./Cargo.toml)).workspace.package;
    in
    {
      packages = onEach (pkgs: {
        default = pkgs.rustPlatform.buildRustPackage {
          pname = "truetail";
          inherit (manifest) version;
          src = self;
          cargoLock.lockFile = ./Cargo.lock;
          cargoBuildFlags = [ "--package" "truetail" ];
          # The tests want a registry of Python packages and a clock that no other build slows down.
          doCheck = false;
          nativeBuildInputs = [ pkgs.installShellFiles ];
          postInstall = ''
            $out/bin/truetail man --out man
            installManPage man/*.1
            for shell in bash zsh fish; do $out/bin/truetail completions $shell >truetail.$shell; done
            installShellCompletion --cmd truetail --bash truetail.bash --zsh truetail.zsh --fish truetail.fish
          '';
          meta = {
            inherit (manifest) license;
            description = "Load tester whose tail latency is true";
            mainProgram = "truetail";
          };
        };
      });
    };
}
